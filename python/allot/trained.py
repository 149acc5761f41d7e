"""Trained models as policies: what stable-baselines3, torch or onnxruntime run, in the tables of allot.

    allot.compare([allot.Sb3Policy("ppo.zip", trained_on=[]), "optimus"], setting="dl2:size=S")

Models see the observations of `GpuClusterEnv` and answer its actions. `trained_on` holds windows of traces,
{"workload": NAME, "from": WHEN, "to": WHEN}, from which tables tell whether their workloads are unseen;
None: not known.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from allot import _allot
from allot.envs.options import DEFAULTS
from allot.errors import DataError, RunError, UsageError, reading
from allot.own_random import OwnRandom
from allot.policy import Policy

Tensors = Mapping[str, np.ndarray]


class TrainedPolicy(Policy):
    """A function from the environment's observation to its action, as a policy.

    predict(observation, mask) -> action: dict of arrays as of GpuClusterEnv.reset, and the action mask (bool,
    flattened) as of GpuClusterEnv.action_masks; an action as of its action space. Illegal ones are ignored, as there.
    action, max_jobs, max_configurations, placement, obs, max_nodes, configurations_in_obs: of the environment that the
    model was trained in.

    Each run has a copy of the policy as it is when the experiment begins, with all that it holds: models, and the object
    whose method `predict` is. One run predicts at a time, and the generators of random, numpy and torch are the run's
    own, begun with its seed: so results are the same on any number of threads. What cannot be copied is shared by the
    runs, a bare function too: it must not keep anything from one decision to the next.
    """

    needs_lengths = True  # the features hold estimates of remaining times

    def __init__(
        self,
        predict: Callable[[dict[str, np.ndarray], np.ndarray], Any],
        *,
        action: str = "index",
        max_jobs: int = DEFAULTS["max_jobs"],
        max_configurations: int = DEFAULTS["max_configurations"],
        placement: str = DEFAULTS["placement"],
        obs: str = DEFAULTS["obs"],
        max_nodes: int = DEFAULTS["max_nodes"],
        configurations_in_obs: bool = DEFAULTS["configurations_in_obs"],
        name: str | None = None,
        trained_on: Iterable[Mapping[str, str]] | None = None,
    ) -> None:
        self.predict = predict
        self.options = {
            "action": action, "max_jobs": max_jobs, "max_configurations": max_configurations,
            "placement": placement, "strict": False,
            "obs": obs, "max_nodes": max_nodes, "configurations_in_obs": configurations_in_obs,
        }
        if obs == "graph" and max_nodes < 1:
            raise UsageError("obs='graph' needs max_nodes as in training: a policy does not know the cluster beforehand")
        self.name = name
        sources = [{"unknown": "trained in Python"}] if trained_on is None else [dict(each) for each in trained_on]
        self.lineage = {"sources": sources}
        self._side = _allot._AgentSide(self.options)
        self._random = OwnRandom(0)

    def __deepcopy__(self, memo: dict) -> TrainedPolicy:
        other = copy.copy(self)
        memo[id(self)] = other  # methods of this policy become methods of the copy
        for name, value in vars(self).items():
            if name != "_side":
                setattr(other, name, _copied(value, memo))
        other._side = _allot._AgentSide(self.options)
        return other

    def begin(self, seed: int) -> None:
        self._side.begin()
        self._random = OwnRandom(seed)

    def decide(self, observation):
        from allot import Allocation

        seen = self._side.look(observation)
        refused = False
        while True:
            mask = seen["action_mask"].astype(bool)
            with self._random.turn():
                action = np.asarray(self.predict(seen, mask), np.float32).ravel()
            decided, illegal, entries = self._side.act(observation, action)
            if decided:
                break
            if illegal and refused:
                raise UsageError(f"{self.name or type(self).__name__}: illegal action {action[0]:g}, twice in turn")
            refused = illegal
            seen = self._side.tensors(observation)
        allocation = Allocation(observation)
        for row, configuration, nodes in entries:
            allocation.place(row, configuration, nodes)
        return allocation


def _copied(value: Any, memo: dict) -> Any:
    """A deep copy; the value itself where it cannot be copied."""
    before = dict(memo)
    try:
        _detach_results(value, memo)
        return copy.deepcopy(value, memo)
    except Exception:  # whatever objects of users raise; what is copied by then is not whole
        memo.clear()
        memo.update(before)
        return value


def _file_name(path: str | os.PathLike) -> str:
    """The name of a policy whose model is in a file."""
    return re.sub(r"[:,=\s]+", "-", Path(path).stem)


def _detach_results(value: Any, memo: dict) -> None:
    """Makes results of earlier calls that a torch module holds copyable: torch copies no tensor that hangs on a graph."""
    for module in value.modules() if callable(getattr(value, "modules", None)) else ():
        for held in vars(module).values():
            for each in held if isinstance(held, (tuple, list)) else (held,):
                if getattr(each, "grad_fn", None) is not None:
                    memo[id(each)] = each.detach().clone()


def best_action(numbers: np.ndarray, mask: np.ndarray, action: str, max_jobs: int) -> np.ndarray:
    """The likeliest legal action of a model's outputs: scores as they are, logits by their maximum."""
    if np.isnan(numbers).any():
        raise RunError("the model answers NaN")
    if action == "index":
        return numbers.reshape(max_jobs, -1)
    logits = np.where(mask, numbers.ravel(), -np.inf)
    return logits.argmax() if action == "increments" else logits.reshape(max_jobs, -1).argmax(1)


class TorchPolicy(TrainedPolicy):
    """A torch module: module(observation) -> scores (index) or logits (increments, choice).

    It is given a dict of tensors with a batch of one; what it answers may have that batch, and may be a tuple whose first
    element counts. A module of `Checkpoint.torch()` (kind index) is given jobs and context. It decides in evaluation mode
    (module.eval()).
    """

    def __init__(self, module: Any, **options: Any) -> None:
        from allot.torch_network import TorchNetwork

        self.module = module
        super().__init__(self._of_network if isinstance(module, TorchNetwork) else self._of_module, **options)

    def begin(self, seed: int) -> None:
        super().begin(seed)
        if callable(getattr(self.module, "eval", None)):
            self.module.eval()

    def _of_module(self, seen: Tensors, mask: np.ndarray) -> np.ndarray:
        import torch

        with torch.no_grad():
            out = self.module({name: torch.from_numpy(values)[None] for name, values in seen.items()})
        out = out[0] if isinstance(out, tuple) else out
        return best_action(out.numpy(), mask, self.options["action"], self.options["max_jobs"])

    def _of_network(self, seen: Tensors, mask: np.ndarray) -> np.ndarray:
        import torch

        count = int(seen["job_mask"].sum())
        scores = np.zeros((len(seen["jobs"]), 3), np.float32)
        with torch.no_grad():
            scores[:count] = self.module(torch.from_numpy(seen["jobs"][:count]), torch.from_numpy(seen["context"]))
        return scores / _allot.INDEX_ACTION_SCALE


class OnnxPolicy(TrainedPolicy):
    """An ONNX model by onnxruntime; inputs by the names of the environment's tensors, the first output counts.

    Inputs may have a batch dimension of one in front. Where `jobs` has a free first dimension, the model is given the
    jobs that are there only, as models of export_onnx take them (kind index). DataError where a model of export_onnx is of
    another kind or feature version.
    """

    def __init__(self, path: str | os.PathLike, *, trained_on: Iterable[Mapping[str, str]] | None = None, **options: Any):
        self.path = os.fspath(path)
        self._open()
        facts = self.session.get_modelmeta().custom_metadata_map
        self._check(facts, path)
        # Networks of allot answer scores, other models actions of the environment.
        self._scale = _allot.INDEX_ACTION_SCALE if facts.get("allot.kind") == "index" else 1
        super().__init__(self._run, trained_on=trained_on, **{"name": _file_name(path)} | options)
        if trained_on is None and "allot.lineage" in facts:
            self.lineage = json.loads(facts["allot.lineage"])

    def begin(self, seed: int) -> None:
        super().begin(seed)
        with self._random.turn():
            self._open(seed)  # nodes that draw have their generators in the session

    def _open(self, seed: int = 0) -> None:
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        onnxruntime.set_seed(seed % 2**31)
        with reading(self.path, "an ONNX model"):
            self.session = onnxruntime.InferenceSession(self.path, settings, providers=["CPUExecutionProvider"])

    @staticmethod
    def _check(facts: Mapping[str, str], path: Any) -> None:
        kind = facts.get("allot.kind", "")
        if kind and kind != "index":
            raise DataError(
                f"{path}: networks of kind '{kind}' see other features than environments: serve the checkpoint, "
                "learned:checkpoint=FOLDER"
            )
        versions = {each["name"]: each["feature_version"] for each in _allot._networks()}
        if kind and int(facts["allot.feature_version"]) != versions[kind]:
            raise DataError(f"{path}: model has feature version {facts['allot.feature_version']}, this allot needs {versions[kind]}")

    def _run(self, seen: Tensors, mask: np.ndarray) -> np.ndarray:
        feeds, present = {}, None
        for given in self.session.get_inputs():
            if given.name not in seen:
                raise UsageError(f"the model's input '{given.name}' is no tensor of the environment: {', '.join(seen)}")
            values = seen[given.name]
            batch = len(given.shape) == values.ndim + 1
            if given.name == "jobs" and not batch and not isinstance(given.shape[0], int):
                present = int(seen["job_mask"].sum())
                values = values[:present]
            if given.type == "tensor(float)":
                values = values.astype(np.float32)
            feeds[given.name] = values[None] if batch else values
        out = self.session.run(None, feeds)[0]
        if present is not None and self.options["action"] == "index":
            out = np.concatenate([out, np.zeros((len(seen["jobs"]) - present, out.shape[1]), out.dtype)]) / self._scale
        return best_action(out, mask, self.options["action"], self.options["max_jobs"])


class Sb3Policy(TrainedPolicy):
    """A model of stable-baselines3 or sb3-contrib: the likeliest action each time, or with `deterministic=False` drawn ones.

    model: the object, or the path of one that `model.save` wrote and `algorithm` (default MaskablePPO) loads. The action
    form and the window are those of its spaces. Recurrent models keep their state through a run.
    normalize: the statistics of the VecNormalize that the model was trained under: the path that its `save` wrote, or the
    object; default: those of the model's environment. False: it normalised rewards only. UsageError where the model was
    trained under one and its statistics are not there.
    """

    def __init__(
        self, model: Any, *, algorithm: Any = None, deterministic: bool = True, normalize: Any = None, **options: Any
    ) -> None:
        if isinstance(model, (str, os.PathLike)):
            if algorithm is None:
                from sb3_contrib import MaskablePPO as algorithm
            options = {"name": _file_name(model)} | options
            with reading(model, f"a model of {algorithm.__name__}"):
                model = algorithm.load(os.fspath(model), device="cpu")
        self.model, self.deterministic = model, deterministic
        self.normalize = _normalizer(model, normalize)
        self._masked = "Maskable" in type(model).__name__
        self._state: Any = None  # of a recurrent model
        actions = model.action_space
        if isinstance(actions, spaces.Discrete):
            options |= {"action": "increments", "max_jobs": (int(actions.n) - 1) // 3}
        elif isinstance(actions, spaces.MultiDiscrete):
            options |= {"action": "choice", "max_jobs": len(actions.nvec), "max_configurations": int(actions.nvec[0]) - 1}
        else:
            options |= {"action": "index", "max_jobs": actions.shape[0]}
            if not np.allclose(actions.high, 1):
                raise UsageError(
                    f"index actions are from -1 to 1, those of this model up to {actions.high.max():g}: it was trained in an "
                    "environment of an older version, or with other bounds"
                )
        seen = getattr(model.observation_space, "spaces", {})
        if "configurations" in seen:
            options |= {"configurations_in_obs": True, "max_configurations": seen["configurations"].shape[1]}
        if "nodes" in seen:
            options |= {"obs": "graph", "max_nodes": seen["nodes"].shape[0]}
        super().__init__(self._predict, **options)

    def __deepcopy__(self, memo: dict) -> TrainedPolicy:
        if hasattr(self.model, "_excluded_save_params"):
            memo[id(self.model)] = _own_model(self.model, memo)
        return super().__deepcopy__(memo)

    def begin(self, seed: int) -> None:
        super().begin(seed)
        self._state = None
        if not self.deterministic:
            self.model.action_space.seed(seed % 2**32)  # from which epsilon-greedy ones draw

    def _predict(self, seen: Tensors, mask: np.ndarray) -> np.ndarray:
        space = self.model.observation_space
        if hasattr(space, "spaces"):
            given: Any = {name: seen[name] for name in space.spaces}
        else:  # flat, in the order of the Dict space's keys
            names = [name for name in sorted(seen) if name not in ("action_mask", "job_ids")]
            if self.options["action"] != "increments":
                names.remove("granted")
            given = np.concatenate([seen[name].ravel().astype(np.float32) for name in names])
        if self.normalize is not None:
            given = self.normalize.normalize_obs(given)
        more: dict[str, Any] = {"action_masks": mask} if self._masked else {}
        if self._state is not None:
            more |= {"state": self._state, "episode_start": np.zeros(1, bool)}
        action, self._state = self.model.predict(given, deterministic=self.deterministic, **more)
        return action


def _own_model(model: Any, memo: dict) -> Any:
    """A copy of a model of stable-baselines3 that predicts: without its environment, buffers and loggers."""
    own = copy.copy(model)
    own.env = None
    for module in model.policy.modules():
        held = vars(module).get("action_dist")
        if held is not None:  # what it holds of the last call is made anew at the next one
            memo[id(held)] = copy.copy(held)
    left_out = set(model._excluded_save_params()) - {"policy"}
    for name in vars(model):
        if name not in left_out:
            setattr(own, name, _copied(getattr(model, name), memo))
    return own


def _normalizer(model: Any, normalize: Any) -> Any:
    """The VecNormalize whose statistics a model needs, or None."""
    if normalize is False:
        return None
    if isinstance(normalize, (str, os.PathLike)):
        with reading(normalize, "what VecNormalize.save writes"), open(normalize, "rb") as file:
            normalize = pickle.load(file)
    if normalize is None:
        normalize = getattr(model, "get_vec_normalize_env", lambda: None)()
        if normalize is None and getattr(model, "_last_original_obs", None) is not None:
            raise UsageError(
                "the model was trained under VecNormalize, whose statistics are not in its file: give normalize=, the path "
                "that VecNormalize.save wrote (False: it normalised rewards only)"
            )
    if normalize is None:
        return None
    if not hasattr(normalize, "normalize_obs"):
        raise UsageError(f"normalize is a VecNormalize, the path of one, or False, got {type(normalize).__name__}")
    if normalize.observation_space != model.observation_space:
        raise UsageError(
            f"normalize has statistics of {normalize.observation_space}, the model sees {model.observation_space}"
        )
    return normalize
