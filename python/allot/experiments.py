"""Experiments: allot.simulate, compare, evaluate and sweep, with the command line's options as keywords."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from allot import policy as _policy
from allot.envs.options import texts_of
from allot.errors import UsageError
from allot.results import Comparison, Run, Sweep


def compare(
    policies: str | Sequence[Any] | None = None,
    *,
    reference: str = "",
    bounds: bool = False,
    title: str = "",
    out: str | os.PathLike = "",
    log: str | os.PathLike = "",
    log_steps: str = "policy",
    threads: int = 0,
    bar: bool | None = None,
    **world: Any,
) -> Comparison:
    """Runs several policies on the same workloads.

    policies: a text as `--policies` takes it, or a list of names, allot.Policy classes or
      objects, and functions observation -> allocation. None: the well-known ones of the world.
    reference: the policy that ratios are taken of; default: the first.
    bounds: also work out a lower bound on the average JCT.
    out: folder for evaluation.json and the runs. log: Minari datasets folder for episode logs.
    log_steps: what a step of a log is: "policy": a time that the policy was asked; "environment": a
      decision of the environment that minari's recover_environment() gives, whose actions answers
      are applied as. The log is then an episode of that environment, action by action.
    threads: 0: one a core; results do not depend on it. bar: a bar (tqdm); None: where one can
      be seen.
    world: options of the command line with _ for - (workload, cluster, load, seed, setting, ...).

    A run whose policy lets jobs wait for ever is one that did not finish: `runs()` says why, and
    ratios leave it out. RunError where no run finishes.

    Errors: UsageError for unknown options, names and values; DataError for bad files; RunError where
    a policy in Python fails: it names the decision and the line, its __cause__ is what was thrown.
    """
    return _compare(
        policies, world, reference=reference, bounds=bounds, title=title, out=out, log=log,
        log_steps=log_steps, threads=threads, bar=bar, command="allot.compare",
    )


def simulate(
    policy: Any = "fifo",
    *,
    out: str | os.PathLike = "",
    log: str | os.PathLike = "",
    log_steps: str = "policy",
    threads: int = 0,
    bar: bool | None = None,
    **world: Any,
) -> Run:
    """Runs one policy on one workload. Arguments and errors as of compare."""
    result = _compare(
        [policy], world, out=out, log=log, log_steps=log_steps, threads=threads, bar=bar, single=True,
        command="allot.simulate",
    )
    return result.run(0, 0)


def evaluate(
    trained: Any,
    against: str | Sequence[Any] | None = None,
    *,
    seen: bool | None = None,
    bounds: bool = False,
    title: str = "",
    out: str | os.PathLike = "",
    log: str | os.PathLike = "",
    log_steps: str = "policy",
    threads: int = 0,
    bar: bool | None = None,
    **world: Any,
) -> Comparison:
    """Compares a trained policy with others, and says whether training saw the workloads.

    trained: the folder of a checkpoint, or a policy in Python, whose `lineage` says what it was
      trained on. It is the reference.
    against: as `policies` of compare; [] for none. seen: whether training saw these workloads;
      None: as the lineage says.
    """
    folder = isinstance(trained, (str, os.PathLike))
    others = [] if against is None else _listed(against)
    if against is None:
        from allot import _allot

        others = _allot._split_specs(_allot._compared_policies(texts_of(world)))
    name = "learned" if folder else _policy.factory_of(trained)[0]
    return _compare(
        others if folder else [trained, *others], world, reference=name, bounds=bounds,
        title=title or (f"Checkpoint {os.fspath(trained)}" if folder else ""), out=out, log=log,
        log_steps=log_steps, threads=threads, bar=bar, seen=seen,
        checkpoint=os.fspath(trained) if folder else "", command="allot.evaluate",
    )


def sweep(
    definition: str | os.PathLike | Mapping[str, Any] | None = None,
    *,
    preset: str = "",
    policies: str | Sequence[Any] | None = None,
    out: str | os.PathLike = "",
    threads: int = 0,
    bar: bool | None = None,
    **keys: Any,
) -> Sweep:
    """Runs the cross product of factors: policies, loads, seeds, clusters, and options that vary.

    definition: a TOML or JSON file, or a dict (docs/sweeps.md); keywords win over it.
    keys: those of a definition with _ for -: policies, clusters, loads, rates, seeds, admission,
      placement, vary={"interval": [60, 300]}, window_jobs, reference, title, and options of the world.
    out: folder that keeps finished cells: the same call again takes them up. Cells of a policy in
      Python are known by its name and its module.
    """
    from allot import _allot

    given: dict[str, Any] = dict(definition) if isinstance(definition, Mapping) else {}
    given.update({key.replace("_", "-"): value for key, value in keys.items() if value is not None})
    if policies is not None:
        given["policies"] = policies
    with contextlib.ExitStack() as stack:
        if "policies" in given:
            given["policies"] = [
                stack.enter_context(_named(each)) for each in _listed(given["policies"])
            ]
        file = os.fspath(definition) if isinstance(definition, (str, os.PathLike)) else ""
        text = json.dumps({key: _plain(value) for key, value in given.items()})
        report = stack.enter_context(_progress("sweep", bar))
        command = "allot.sweep(" + ", ".join(f"{key}={value!r}" for key, value in given.items()) + ")"
        return Sweep(
            _allot._run_sweep(file, preset, text, os.fspath(out), _threads(threads), command, report)
        )


def score(
    policies: str | Sequence[Any],
    *,
    suite: str = "v1",
    salt: str = "public",
    out: str | os.PathLike = "",
    threads: int = 0,
) -> dict[str, Any]:
    """Plays the tasks of the contest, as `allot score` does; docs/scoreboard.md explains them.

    policies: as of compare. suite: "v1", or "small" for a check in seconds. salt: any text, from
      which the test workloads are drawn; with one of your own nobody chose a policy by them.
    out: file of the result, for `allot scoreboard`. threads: 0: one a core.

    Returns the result as the file holds it: `aggregates` by policy, and `tasks` with the ratios of each. A policy that
    cannot play a task is absent from it, with the reason; UsageError where it can play none.
    """
    from allot import _allot

    entries = [_entry(each) for each in _listed(policies)]
    command = _call_text("allot.score", [name for name, _, _ in entries], {"suite": suite, "salt": salt})
    text = _allot._score(entries, suite, salt, _threads(threads), command)
    if out:
        with open(out, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return json.loads(text)


# ---- what they share ----


def _compare(
    policies: Any, world: dict[str, Any], *, command: str, reference: str = "", bounds: bool = False,
    title: str = "", out: Any = "", log: Any = "", log_steps: str = "policy", threads: int = 0, bar: bool | None = None,
    single: bool = False, checkpoint: str = "", seen: bool | None = None,
) -> Comparison:
    from allot import _allot

    texts = texts_of(world)
    entries = [_entry(each) for each in ([] if policies is None else _listed(policies))]
    options = {
        "reference": reference, "bounds": bool(bounds), "title": title, "out": os.fspath(out),
        "log": os.fspath(log), "log_steps": log_steps, "threads": _threads(threads), "single": single,
        "checkpoint": checkpoint, "seen": seen,
        "command": _call_text(command, [name for name, _, _ in entries], world),
    }
    with _progress(command.removeprefix("allot."), bar) as report:
        return Comparison(_allot._run_experiment(texts, entries, options, report))


def _call_text(command: str, policies: list[str], world: dict[str, Any]) -> str:
    arguments = [repr(policies)] if policies else []
    arguments += [f"{key}={value!r}" for key, value in world.items() if value is not None]
    return f"{command}({', '.join(arguments)})"


def _listed(policies: Any) -> list[Any]:
    from allot import _allot

    if isinstance(policies, str):
        return _allot._split_specs(policies)
    if isinstance(policies, Sequence):
        return list(policies)
    return [policies]


def _entry(policy: Any) -> tuple[str, Any, str]:
    """(name, factory or None, lineage as JSON or "")."""
    if isinstance(policy, str):
        return policy, None, ""
    name, factory, lineage = _policy.factory_of(policy)
    return name, factory, json.dumps(lineage) if lineage is not None else ""


@contextlib.contextmanager
def _named(policy: Any) -> Iterator[str]:
    """The name of a policy for a sweep; one in Python has it for as long as that runs."""
    if isinstance(policy, str):
        yield policy
        return
    name, _, _ = _policy.factory_of(policy)
    before = _policy._factories.get(name)
    _policy.register_policy(name, policy)
    try:
        yield name
    finally:
        if before is None:
            del _policy._factories[name]
        else:
            _policy._factories[name] = before


def _threads(threads: int) -> int:
    if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= 1024:
        raise UsageError(f"threads must be a whole number from 0 to 1024, got {threads!r}")
    return threads


def _plain(value: Any) -> Any:
    """As JSON has it: numpy's numbers, paths and ranges too."""
    if isinstance(value, Mapping):
        return {str(key).replace("_", "-"): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_plain(each) for each in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        return value.item()
    if hasattr(value, "tolist"):
        return value.tolist()
    return value


@contextlib.contextmanager
def _progress(label: str, wanted: bool | None) -> Iterator[Any]:
    """A callable (done, total, note), or None where nobody shall see a bar."""
    if wanted is None:
        wanted = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    if not wanted:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    bar = tqdm(desc=label, total=1, leave=False)

    def tell(done: int, total: int, note: str) -> None:
        bar.total = total
        bar.n = done
        bar.set_postfix_str(note, refresh=False)
        bar.refresh()

    try:
        yield tell
    finally:
        bar.close()
