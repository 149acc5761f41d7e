"""Policies in Python: allot.Policy, and the names by which experiments find them."""

from __future__ import annotations

import copy
import dataclasses
import functools
import importlib
import importlib.util
import inspect
import os
import sys
import sysconfig
import traceback
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from allot.errors import UsageError

if TYPE_CHECKING:
    import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """The configurations that a job can be given: numpy columns, one element a configuration.

    Indices into these columns are what `decide` answers. Cheaper ones come first within a GPU type.
    """

    name: str  #: the throughput profile
    kinds: list[str]  #: names of the kinds of unit: ["gpu"], ["worker", "ps"]
    gpus: np.ndarray  #: GPUs of all units together
    cpus: np.ndarray  #: CPUs of all units together
    first_units: np.ndarray  #: units of the first kind
    second_units: np.ndarray  #: units of the second kind
    gpu_type: np.ndarray  #: index into observation.gpu_types
    cost: np.ndarray  #: price of the units; 1 a GPU where kinds have no prices
    rate: np.ndarray  #: work per second; <= 0: no progress
    least_nodes: np.ndarray  #: nodes that the units may lie on, at least
    most_nodes: np.ndarray  #: at most
    shared: np.ndarray  #: 1: of a job that shares its GPUs with another one
    allocatable: np.ndarray  #: 1: the job may hold it; others are there for their rates only

    def __len__(self) -> int:
        return len(self.rate)


class Policy:
    """Decides who runs, in which configuration, on which GPUs. Subclass it and write `decide`.

    Each run of an experiment has an object of its own: a class is called without arguments for each
    run, of an object a deep copy is taken before the first run of each. Runs are on several threads,
    of which one at a time runs Python.

    Results repeat only where `decide` depends on nothing but the observation, what the object saw
    earlier in the episode, and random numbers from the seed that `begin` is given.
    """

    #: In tables and messages; default: the name of the class.
    name: str | None = None
    #: It reads `estimated_work`: where these are the true lengths, tables mark it as an oracle.
    needs_lengths: bool = False
    #: Asked at every interval. False: only when a job has arrived or ended, a node has come or gone,
    #: or rates have changed; its answer must then not change with time alone.
    time_driven: bool = True
    #: Of a trained policy: what it was trained on, as in the config of a checkpoint
    #: ({"sources": [...]}). Tables then say whether its workloads are unseen. None: nothing.
    lineage: dict | None = None

    def begin(self, seed: int) -> None:
        """An episode begins: forget the one before. `seed`: of all random numbers."""

    def decide(self, observation):
        """Answers who runs.

        Returns one of: an allot.Allocation (observation.allocate, observation.allocate_gpus, or made
        step by step); a dict from job (observation.job) to the index of a configuration in the job's
        table, served in its order; an array with an index for each row, -1: it waits.

        Jobs that run already with the same configuration keep their GPUs, the others are placed on as
        few nodes as possible in the order served. Who does not fit, or is not named, waits.
        """
        raise NotImplementedError(f"{type(self).__name__} has no decide(self, observation)")

    def notes(self) -> dict[str, str]:
        """Facts about the episode for people; kept with the run's summary."""
        return {}


class _FunctionPolicy(Policy):
    """A function from observation to allocation."""

    def __init__(self, function: Callable) -> None:
        self.decide = function


Factory = Callable[[], Policy]
_factories: dict[str, Callable[..., Any]] = {}


def register_policy(name: str, policy: Any) -> None:
    """Gives a policy a name for `policies=[...]` of compare, evaluate, simulate and sweeps.

    `policy`: a Policy class or object, a function observation -> allocation, or a callable that makes
    a Policy. With a class, "name:key=value" gives its constructor arguments. A name registered again
    means the new policy from then on. UsageError: a name with ':' or ',', or one of allot's own.
    """
    from allot import _allot

    if not name or any(c in name for c in ":,= \t\n"):
        raise UsageError(f"the name of a policy has no spaces and none of ':,=', got {name!r}")
    if name == "python" or _allot._is_own_policy(name):
        raise UsageError(f"policy '{name}' is one of allot's own: take another name")
    _factories[name] = _maker(policy)


def factory_of(policy: Any) -> tuple[str, Factory, dict | None]:
    """(name, factory, lineage) of a Policy class or object, a function, or a callable."""
    make = _maker(policy)
    named = getattr(policy, "name", None)
    name = named if isinstance(named, str) and named else _name_of(policy)
    lineage = getattr(policy, "lineage", None)
    return name, make, lineage


def _name_of(policy: Any) -> str:
    of = policy if isinstance(policy, type) or inspect.isroutine(policy) else type(policy)
    return of.__name__.strip("<>")


def _maker(policy: Any) -> Callable[..., Policy]:
    """A callable that makes a Policy of its own for each run."""
    if isinstance(policy, type):
        if not callable(getattr(policy, "decide", None)):
            raise UsageError(f"a policy is a subclass of allot.Policy, got the class {policy.__name__}")
        return _calling(policy)
    if callable(getattr(policy, "decide", None)):
        return lambda: _checked(copy.deepcopy(policy))
    if callable(policy):
        if _takes_observation(policy):
            return lambda: _FunctionPolicy(policy)
        return _calling(policy)
    raise UsageError(
        "a policy is a name, an allot.Policy (class or object) or a function observation -> allocation, "
        f"got {type(policy).__name__}"
    )


def _calling(make: Callable[..., Any]) -> Callable[..., Policy]:
    @functools.wraps(make, updated=())  # its signature
    def made(*arguments: Any, **named: Any) -> Policy:
        return _checked(make(*arguments, **named))

    return made


def _takes_observation(function: Callable) -> bool:
    try:
        inspect.signature(function).bind(None)
    except (TypeError, ValueError):
        return False
    return True


def _checked(policy: Any) -> Policy:
    """What is no allot.Policy but decides gets the rest of one."""
    if not callable(getattr(policy, "decide", None)):
        raise UsageError(f"a factory of policies makes an allot.Policy, got {type(policy).__name__}")
    for attribute in ("needs_lengths", "time_driven", "begin", "notes"):
        if not hasattr(policy, attribute):
            of = getattr(Policy, attribute)
            bound = types.MethodType(of, policy) if callable(of) else of
            setattr(policy, attribute, bound)
    return policy


# ---- called by the extension module ----


def _names() -> list[str]:
    """What stands before the first ':' of specs that are Python's."""
    return ["python", *_factories]


def _make(spec: str) -> Policy:
    """The policy of "python:MODULE:CLASS[,key=value...]" or "NAME[:key=value...]"."""
    found, parameters = _find(spec)
    registered = spec.partition(":")[0].strip() != "python"  # a factory already
    return _call(found if registered else _maker(found), parameters, spec)


def _files(spec: str) -> list[str]:
    """The module that the policy is in, and the files and folders that its parameters name.

    Not the script that is run: it may change without the policy.
    """
    found, parameters = _find(spec)
    module = getattr(found, "__module__", "")
    own = module.partition(".")[0] not in ("allot", "__main__")
    code = getattr(sys.modules.get(module), "__file__", None) if own else None
    values = [part.partition("=")[2].strip() for part in parameters.split(",")]
    return [path for path in [code, *values] if path and os.path.exists(path)]


def _find(spec: str) -> tuple[Any, str]:
    """What a spec names, and the parameters that it gives."""
    name, _, rest = spec.partition(":")
    if name.strip() != "python":
        return _factories[name.strip()], rest
    where, _, parameters = rest.partition(",")
    module, _, attribute = where.rpartition(":")
    if not module or not attribute:
        raise UsageError(f"a policy in Python is python:MODULE:CLASS, got '{spec}'")
    found = getattr(_import(module, spec), attribute, None)
    if found is None:
        raise UsageError(f"policy '{spec}': module '{module}' has no '{attribute}'")
    return found, parameters


def _import(module: str, spec: str) -> types.ModuleType:
    if module.endswith(".py"):
        name = os.path.splitext(os.path.basename(module))[0]
        known = sys.modules.get(name)
        if known is not None and os.path.realpath(known.__file__ or "") == os.path.realpath(module):
            return known
        if not os.path.isfile(module):
            raise UsageError(f"policy '{spec}': there is no file '{module}'")
        loader = importlib.util.spec_from_file_location(name, module)
        made = importlib.util.module_from_spec(loader)
        sys.modules[name] = made
        loader.loader.exec_module(made)
        return made
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(error.name + ".")):
            raise UsageError(
                f"policy '{spec}': there is no module '{module}' (searched: {os.getcwd()}, PYTHONPATH and "
                "what is installed)"
            ) from None
        raise


def _call(make: Callable[..., Policy], parameters: str, spec: str) -> Policy:
    arguments: dict[str, Any] = {}
    for part in filter(None, parameters.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key.strip().isidentifier():
            raise UsageError(f"policy '{spec}': expected key=value, got '{part}'")
        arguments[key.strip()] = _value(value.strip())
    try:
        inspect.signature(make).bind(**arguments)
    except TypeError as error:
        raise UsageError(f"policy '{spec}': {error}") from None
    return make(**arguments)


def _value(text: str) -> Any:
    """A number, true or false where it is one; else text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text, text)


_LIBRARIES = tuple({os.path.realpath(sysconfig.get_paths()[key]) for key in ("stdlib", "purelib", "platlib")})


def _describe(error: BaseException) -> str:
    """ "ValueError: message (policy.py:12, in decide)": the last frame in the user's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not os.path.realpath(f.filename).startswith(_LIBRARIES)] or frames
    message = "".join(traceback.format_exception_only(error)).strip()
    if not own:
        return message
    return f"{message} ({own[-1].filename}:{own[-1].lineno}, in {own[-1].name})"


def _defined_at(function: Any) -> str:
    """ "policy.py:12, decide": where a function begins."""
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    if code is None:
        return f"in {type(function).__qualname__}"
    return f"{code.co_filename}:{code.co_firstlineno}, {code.co_name}"
