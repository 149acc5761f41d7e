"""What allot raises. Every message names the rule, the value that broke it, and the place."""

from __future__ import annotations

import contextlib
import os
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
