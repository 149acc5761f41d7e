"""Trained models as policies: what stable-baselines3, torch or onnxruntime run, in the tables of allot.

    allot.compare([allot.Sb3Policy("ppo.zip", trained_on=[]), "optimus"], setting="dl2:size=S")

Models see the observations of `GpuClusterEnv` and answer its actions. `trained_on` holds windows of traces,
{"workload": NAME, "from": WHEN, "to": WHEN}, from which tables tell whether their workloads are unseen;
None: not known.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from allot import _allot
from allot.envs.options import DEFAULTS
from allot.errors import DataError, RunError, UsageError
from allot.policy import Policy

Tensors = Mapping[str, np.ndarray]


class TrainedPolicy(Policy):
    """A function from the environment's observation to its action, as a policy.

    predict(observation, mask) -> action: dict of arrays as of GpuClusterEnv.reset, and the action mask (bool,
    flattened) as of GpuClusterEnv.action_masks; an action as of its action space. Illegal ones are ignored, as there.
    action, max_jobs, max_configurations, placement: of the environment that the model was trained in.
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
        name: str | None = None,
        trained_on: Iterable[Mapping[str, str]] | None = None,
    ) -> None:
        self.predict = predict
        self.options = {
            "action": action, "max_jobs": max_jobs, "max_configurations": max_configurations,
            "placement": placement, "strict": False,
        }
        self.name = name
        sources = [{"unknown": "trained in Python"}] if trained_on is None else [dict(each) for each in trained_on]
        self.lineage = {"sources": sources}
        self._side = _allot._AgentSide(self.options)

    def __deepcopy__(self, memo: dict) -> TrainedPolicy:
        """Each run has its own; the model is shared."""
        other = copy.copy(self)
        other._side = _allot._AgentSide(self.options)
        return other

    def begin(self, seed: int) -> None:
        self._side.begin()

    def decide(self, observation):
        from allot import Allocation

        seen = self._side.look(observation)
        refused = False
        while True:
            mask = seen["action_mask"].astype(bool)
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
    element counts. A module of `Checkpoint.torch()` (kind index) is given jobs and context.
    """

    def __init__(self, module: Any, **options: Any) -> None:
        from allot.torch_network import TorchNetwork

        self.module = module
        super().__init__(self._of_network if isinstance(module, TorchNetwork) else self._of_module, **options)

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
        return scores


@contextlib.contextmanager
def _reading(path: str | os.PathLike, what: str) -> Iterator[None]:
    """What a library says of a file that it cannot read, as a DataError."""
    try:
        yield
    except Exception as error:
        raise DataError(f"{os.fspath(path)}: not readable as {what}: {error}") from error


class OnnxPolicy(TrainedPolicy):
    """An ONNX model by onnxruntime; inputs by the names of the environment's tensors, the first output counts.

    Inputs may have a batch dimension of one in front. Where `jobs` has a free first dimension, the model is given the
    jobs that are there only, as models of export_onnx take them (kind index). DataError where a model of export_onnx is of
    another kind or feature version.
    """

    def __init__(self, path: str | os.PathLike, *, trained_on: Iterable[Mapping[str, str]] | None = None, **options: Any):
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        with _reading(path, "an ONNX model"):
            self.session = onnxruntime.InferenceSession(os.fspath(path), settings, providers=["CPUExecutionProvider"])
        facts = self.session.get_modelmeta().custom_metadata_map
        self._check(facts, path)
        super().__init__(self._run, trained_on=trained_on, **options)
        if trained_on is None and "allot.lineage" in facts:
            self.lineage = json.loads(facts["allot.lineage"])

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
            out = np.concatenate([out, np.zeros((len(seen["jobs"]) - present, out.shape[1]), out.dtype)])
        return best_action(out, mask, self.options["action"], self.options["max_jobs"])


class Sb3Policy(TrainedPolicy):
    """A model of stable-baselines3 or sb3-contrib: the likeliest action each time, or with `deterministic=False` drawn ones.

    model: the object, or the path of one that `model.save` wrote and `algorithm` (default MaskablePPO) loads. The action
    form and the window are those of its spaces.
    """

    def __init__(self, model: Any, *, algorithm: Any = None, deterministic: bool = True, **options: Any) -> None:
        if isinstance(model, (str, os.PathLike)):
            if algorithm is None:
                from sb3_contrib import MaskablePPO as algorithm
            with _reading(model, f"a model of {algorithm.__name__}"):
                model = algorithm.load(os.fspath(model), device="cpu")
        self.model, self.deterministic = model, deterministic
        self._masked = "Maskable" in type(model).__name__
        actions, kind = model.action_space, type(model.action_space).__name__
        if kind == "Discrete":
            options |= {"action": "increments", "max_jobs": (int(actions.n) - 1) // 3}
        elif kind == "MultiDiscrete":
            options |= {"action": "choice", "max_jobs": len(actions.nvec), "max_configurations": int(actions.nvec[0]) - 1}
        else:
            options |= {"action": "index", "max_jobs": actions.shape[0]}
        super().__init__(self._predict, **options)

    def begin(self, seed: int) -> None:
        super().begin(seed)
        if not self.deterministic:
            self.model.set_random_seed(seed % 2**32)

    def _predict(self, seen: Tensors, mask: np.ndarray) -> np.ndarray:
        space = self.model.observation_space
        if hasattr(space, "spaces"):
            given: Any = {name: seen[name] for name in space.spaces}
        else:  # flat, in the order of the Dict space's keys
            names = [name for name in sorted(seen) if name not in ("action_mask", "job_ids")]
            if self.options["action"] != "increments":
                names.remove("granted")
            given = np.concatenate([seen[name].ravel().astype(np.float32) for name in names])
        masks = {"action_masks": mask} if self._masked else {}
        return self.model.predict(given, deterministic=self.deterministic, **masks)[0]
