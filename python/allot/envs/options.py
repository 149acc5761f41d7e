"""Keyword options of environments: those of the command line with _ for -, and those of the environment itself."""

from __future__ import annotations

import numbers
import os
import warnings
from typing import Any

import numpy as np

from allot import _allot
from allot.errors import RunError, UsageError

# Of the environment; the others describe the world.
DEFAULTS = {
    "action": "index",  # or "increments", "choice"
    "max_jobs": 128,  # jobs that an observation holds: the first by submission
    "max_configurations": 64,  # of a job, that a choice can name
    "obs": "jobs",  # or "graph": also nodes, and edges where jobs run on them
    "max_nodes": 0,  # of a graph; 0: as many as the cluster has
    "configurations_in_obs": False,
    "reward": "jobs",
    "reward_scale": 1.0,
    "placement": "packed",
    "max_decisions": "auto",  # after so many the episode is truncated; auto: twice what it can need
    "windows": "random",  # of the trace, with load or a law; "weekly": those that --seed means on the command line
    "strict": False,  # an illegal action is an error, not ignored
    "mask_in_obs": False,
    "task": "",  # of the contest (docs/scoreboard.md), in place of a world: "Philly-v1"
    "split": "train",  # of the task: "train", "validation" or "test"
    "salt": "public",  # from which the episodes of the split "test" follow
}


def text_of(name: str, value: Any) -> str:
    """An option's value as the command line would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(text_of(name, one) for one in value)
    if isinstance(value, np.generic):
        return text_of(name, value.item())
    if isinstance(value, (str, numbers.Real, os.PathLike)):
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    raise UsageError(f"'{name}' must be a text, a number, true or false, or a list of them, got {type(value).__name__}")


def texts_of(options: dict[str, Any]) -> dict[str, str]:
    """Options of a world by their names on the command line, without those that are None."""
    return {name.replace("_", "-"): text_of(name, value) for name, value in options.items() if value is not None}


def _checked(name: str, value: Any) -> Any:
    """The value of one of the environment's own options, of the type of its default."""
    if name == "max_decisions" and value == "auto":
        return value
    wanted = int if name == "max_decisions" else type(DEFAULTS[name])
    if wanted is float and isinstance(value, numbers.Real) and not isinstance(value, bool):
        return float(value)
    if wanted is int and isinstance(value, numbers.Integral) and not isinstance(value, bool) and abs(int(value)) < 2**31:
        return int(value)
    if wanted in (bool, str) and isinstance(value, wanted):
        return value
    kind = {int: "a whole number", bool: "true or false", str: "text", float: "a number"}[wanted]
    if name == "max_decisions":
        kind += " or 'auto'"
    raise UsageError(f"{name} must be {kind}, got {value!r}")


def split(options: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """(texts of the world's options, all of the environment's), with defaults.

    Without a setting and a workload of the user's, episodes are random weeks of the embedded trace at load 1.
    """
    own = {name: options.get(name, default) for name, default in DEFAULTS.items()}
    world = {name: value for name, value in options.items() if name not in DEFAULTS}
    known = [name.replace("-", "_") for name, _ in _allot.world_options()] + list(DEFAULTS)
    for name in world:
        if name not in known:
            raise UsageError(f"unknown option '{name}'{_allot.did_you_mean(name, known)}")
    own = {name: _checked(name, value) for name, value in own.items()}
    if own["task"]:
        pass  # a world of its own
    elif world.get("setting") is not None:
        if not isinstance(world["setting"], str):
            raise UsageError(f"setting must be text, got {type(world['setting']).__name__}")
    elif world.get("workload", "embedded") == "embedded" and world.get("load") is None:
        world["load"] = 1.0
    return texts_of(world), own


def checked_seed(seed: Any) -> int:
    """A seed as the engine takes it. UsageError unless it is a whole number from 0 to 2^63 - 1."""
    if not isinstance(seed, numbers.Integral) or isinstance(seed, bool) or not 0 <= int(seed) < 2**63:
        raise UsageError(f"a seed must be a whole number from 0 to 2^63 - 1, got {seed!r}")
    return int(seed)


class BeyondWindow:
    """Warns once when an environment has more active jobs than its observations show."""

    def __init__(self, own: dict[str, Any]) -> None:
        self._window = own["max_jobs"]
        self._then = "are served last" if own["action"] == "index" else "get nothing until earlier jobs end"
        self._warned = False

    def check(self, most: int) -> None:
        """`most`: the jobs beyond the window, of several environments the largest number."""
        if most == 0 or self._warned:
            return
        self._warned = True
        warnings.warn(
            f"{most} active jobs are beyond max_jobs={self._window}: they are not observed and {self._then}; "
            'info["jobs_beyond_window"] counts them, a larger max_jobs shows them',
            RuntimeWarning,
            stacklevel=3,
        )


class OwnProcess:
    """Refuses to work in a process that was forked after the object was made: its threads are not there."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._pid = os.getpid()

    def check(self) -> None:
        if os.getpid() != self._pid:
            raise RunError(
                f"this {self._what} was made in process {self._pid} and is used in {os.getpid()}, a fork of it: make it "
                "there, or send it there pickled"
            )
