"""allot.learn: from a trace to an accepted policy, with a learner of your own as the last step."""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from allot import _allot
from allot.envs.options import texts_of
from allot.errors import CheckError, DataError, RunError, UsageError
from allot.experiments import compare
from allot.results import Comparison

_ERRORS = {2: UsageError, 3: DataError, 4: CheckError}
_WINDOWS = 4  # of each part of a trace
_MADE = 24  # workloads of each part of a setting
_T = {_WINDOWS: 3.1824, _MADE: 2.0687}  # 97.5 % quantiles of Student's t, by number of values
_VALIDATION_SEED = 0x6C6561726F000000  # as of the program: apart from training and test


class Learned:
    """What allot.learn found.

    `policy`: the accepted policy, for compare and evaluate: a text that names the checkpoint, or the learner's policy.
    `result`: what learn.json has: parts with their ratios, rule, findings. `folder`: where it and the checkpoint lie.

    Of a learner: `learner_validation`: average JCT of its policy / of the accepted one, with its 95 % interval, on jobs to
    choose by; `learner_kept`: the interval lies below 1; `unseen`: both and others on jobs that nothing was made from.
    """

    def __init__(self, folder: Path, text: str) -> None:
        self.folder = folder
        self.result: dict[str, Any] = json.loads((folder / "learn.json").read_text())["result"]
        self.policy: Any = f"learned:checkpoint={folder / 'policy'}"
        self.learner_validation: tuple[float, float, float] | None = None
        self.learner_kept = False
        self.unseen: Comparison | None = None
        self._text = text

    def __repr__(self) -> str:
        if self.learner_validation is None:
            return self._text
        mean, low, high = self.learner_validation
        verdict = "it is the accepted policy" if self.learner_kept else "it is not kept: the interval is not below 1"
        return (f"{self._text}\n{self.unseen!r}\nlearner: {mean:.3f} [{low:.3f}, {high:.3f}] of the average JCT of the "
                f"checkpoint on jobs to choose by; {verdict}")


def learn(
    *,
    out: str | os.PathLike,
    minutes: float = 3,
    iterations: int = 0,
    objective: str = "jct",
    learner: Callable[[dict[str, Any]], Any] | None = None,
    resume: bool = False,
    threads: int = 0,
    quiet: bool = False,
    program: str | os.PathLike = "",
    **world: Any,
) -> Learned:
    """Tunes the rule, adds forecasts of lengths and a network, keeps each part that helps, and tests the result.

    The same as `allot learn` (docs/learning.md), with its options as keywords, and run by it: training needs libtorch,
    which this package has not. `program`: the program; "": $ALLOT_PROGRAM, else `allot` on the PATH.

    learner: called with the options of the part to learn from, for GpuClusterEnv and allot.sb3.make_vec_env; returns a
      policy as compare takes it (Sb3Policy, TorchPolicy, an allot.Policy). It counts only if the whole 95 % interval of
      its average JCT lies below the accepted policy's on jobs to choose by; then both are tested. The checkpoint knows
      the lengths of all jobs before the test there, so that the choice is careful. For the objective "jct" only. Not
      called where the trace is too small to learn from.

    Errors: those of the program by its exit code; RunError without a program that trains.
    """
    if learner is not None and objective != "jct":
        raise UsageError(f"a learner is judged by the average JCT: objective must be 'jct', got '{objective}'")
    out = Path(out)
    command = [_program(program), "learn", "--out", str(out), "--objective", objective]
    command += ["--iterations", str(iterations)] if iterations else ["--minutes", str(minutes)]
    command += ["--threads", str(threads)] if threads else []
    command += ["--resume"] if resume else []
    command += ["--quiet"] if quiet else []
    for name, text in texts_of(world).items():
        if text != "false":
            command += [f"--{name}"] if text == "true" else [f"--{name}", text]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE if quiet else None, text=True)
    if done.returncode != 0:
        raise _ERRORS.get(done.returncode, RunError)(
            (done.stderr or "").strip().removeprefix("allot: ") or f"'allot learn' ended with exit code {done.returncode}"
        )
    learned = Learned(out, done.stdout)
    if learner is not None and _learns(learned):
        _judge(learned, learner, world, threads)
    return learned


def _program(named: str | os.PathLike) -> str:
    program = os.fspath(named) or os.environ.get("ALLOT_PROGRAM") or shutil.which("allot")
    if not program:
        raise RunError("allot.learn needs the program allot, which trains: set program= or $ALLOT_PROGRAM")
    text = subprocess.run([program, "--help"], capture_output=True, text=True).stdout
    if "\n  learn " not in text:
        raise RunError(f"{program} was built without training (docs/learning.md): set program= or $ALLOT_PROGRAM to one with it")
    return program


def _learns(learned: Learned) -> bool:
    """False for a trace that is too small to be divided."""
    divided = learned.result["divided"]
    return divided is None or divided["validation_from_s"] > divided["from_s"]


def _judge(learned: Learned, learner: Callable[[dict[str, Any]], Any], world: Mapping[str, Any], threads: int) -> None:
    """The learner's policy against the accepted one: on jobs to choose by, then on the test."""
    policy = learner(_part(learned, world, "from_s", "validation_from_s"))
    both = [policy, f"accepted={learned.policy}"]
    ratios = []  # logarithms, by workload
    for window in _windows(learned, world):
        tried = compare(both, threads=threads, bar=False, **window).evaluation["policies"]
        mine, theirs = ([run["avg_jct_s"] for run in each["runs"]] for each in tried)
        ratios += [math.log(a / b) if a and b else math.inf for a, b in zip(mine, theirs, strict=True)]
    learned.learner_validation = _mean_and_interval(ratios)
    learned.learner_kept = learned.learner_validation[2] < 1
    test = _part(learned, world, "test_from_s", "to_s") | ({"workloads": _MADE} if learned.result["divided"] is None else {})
    others = _allot._split_specs(_allot._compared_policies(texts_of(test)))
    learned.unseen = compare([*both, *(each for each in others if each != policy)], threads=threads, bar=False, **test)
    if learned.learner_kept:
        learned.policy = policy


def _part(learned: Learned, world: Mapping[str, Any], begin: str, end: str) -> dict[str, Any]:
    """The world between two bounds of the division."""
    divided = learned.result["divided"]
    if divided is None:
        return {**world}
    lengths = world.get("length_estimates") or learned.result["length_estimates"]
    span = divided[end] - divided[begin]
    return {**world, "from": str(divided[begin]), "to": str(divided[end]), "span": str(span), "length_estimates": lengths}


def _windows(learned: Learned, world: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Worlds to choose in: parts of equal length, or workloads of a setting."""
    divided = learned.result["divided"]
    if divided is None:
        return [{**world, "workloads": _MADE, "seed": _VALIDATION_SEED}]
    part = _part(learned, world, "validation_from_s", "test_from_s")
    begin, span = divided["validation_from_s"], (divided["test_from_s"] - divided["validation_from_s"]) / _WINDOWS
    bounds = [str(begin + k * span) for k in range(_WINDOWS + 1)]
    return [part | {"from": bounds[k], "to": bounds[k + 1], "span": str(span)} for k in range(_WINDOWS)]


def _mean_and_interval(logs: list[float]) -> tuple[float, float, float]:
    """Geometric mean with its 95 % interval by Student's t, as tables have it; infinite where a policy did not finish."""
    if not all(map(math.isfinite, logs)):
        return math.inf, math.inf, math.inf
    middle, half = statistics.fmean(logs), _T[len(logs)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)
