"""What allot raises. Every message names the rule, the value that broke it, and the place."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator


class Error(Exception):
    """Any error of allot."""


class UsageError(Error, ValueError):
    """A wrong option, name, shape or order of calls."""


class DataError(Error, ValueError):
    """A file (trace, log, checkpoint) that cannot be what it says."""


class RunError(Error, RuntimeError):
    """A run that failed: a policy that broke a rule, a full disk."""


class CheckError(Error, AssertionError):
    """A check whose answer is no."""


@contextlib.contextmanager
def reading(path: str | os.PathLike, what: str) -> Iterator[None]:
    """What a library raises for a file that it cannot read, as a DataError that names the file."""
    try:
        yield
    except Error:
        raise
    except Exception as error:
        raise DataError(f"{os.fspath(path)}: not readable as {what}: {error}") from error


# A line that is a command keeps its options.
_COMMAND = re.compile(r"\ballot [a-z]+ .*--")
_OPTION = re.compile(r"--([a-z][a-z-]*)\b(?!=)(?: (drop|clip|error|[0-9][\w./-]*|'[^']*'))?")


def in_keywords(message: str) -> str:
    """A message of the engine, whose options of the command line are keywords here: oversized="drop" for --oversized drop."""
    from allot import _allot

    known = {name for name, _ in _allot.world_options()} | {"log", "log-steps", "policies", "out"}

    def keyword(found: re.Match) -> str:
        name, value = found.groups()
        if name not in known:
            return found.group()
        if value is None:
            return name.replace("-", "_")
        text = value if value[0].isdigit() or value[0] == "'" else f'"{value}"'
        return f"{name.replace('-', '_')}={text}"

    lines = message.split("\n")
    return "\n".join(line if _COMMAND.search(line) else _OPTION.sub(keyword, line) for line in lines)
