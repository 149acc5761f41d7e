"""Checkpoints in Python: weights as numpy arrays or a torch module, fresh networks, ONNX export.

    checkpoint = allot.load_checkpoint("checkpoints/dl2/accepted")
    scores = checkpoint.outputs(jobs, context)         # numpy, as the engine computes them
    module = checkpoint.torch()                        # trainable, the same parameter names
    checkpoint.with_weights(module, trained_on=[...]).save("mine")
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from allot import _allot
from allot.errors import UsageError
from allot.forward import architecture_of

if TYPE_CHECKING:
    import torch

_OWN = "@"  # NAME@WORLD: what a world adds to NAME


@dataclasses.dataclass(frozen=True, eq=False)
class Checkpoint:
    """A trained network as `allot pretrain` and `allot train` write it (docs/formats/checkpoint.md)."""

    kind: str  #: the network (`allot list networks`): index, offsets, order, flat, shared
    feature_version: int  #: of the features that it takes
    shape: dict[str, Any]  #: sizes and options of the network
    tensors: dict[str, np.ndarray]  #: parameters by name, float32
    state: dict[str, Any]  #: the trainer's own; run times that the length model knows
    config: dict[str, Any]  #: options of the run, and the sources that it was made from
    card: str = ""  #: model card, Markdown
    #: What it was trained on: windows {"workload", "from", "to"}, or {"unknown": why}.
    sources: list[dict[str, str]] = dataclasses.field(default_factory=list)

    @property
    def lineage(self) -> dict:
        """For allot.Policy.lineage: what tables need to say whether workloads are unseen."""
        return {"sources": self.sources}

    @property
    def worlds(self) -> list[str]:
        """Worlds that the network has a fixed index for (kind offsets); else empty."""
        return sorted(self.shape.get("worlds", {}))

    def weights(self, world: str = "") -> dict[str, np.ndarray]:
        """The parameters that decide in `world`: the shared ones plus those of the world."""
        if world and self.worlds and world not in self.worlds:
            raise UsageError(f"the network knows the worlds {', '.join(self.worlds)}, got '{world}'")
        shared = {name: values for name, values in self.tensors.items() if _OWN not in name}
        for name in shared:
            own = self.tensors.get(f"{name}{_OWN}{world}") if world else None
            if own is not None:
                shared[name] = shared[name] + own
        return shared

    def outputs(self, jobs, context=None, world: str = "") -> np.ndarray:
        """One forward pass in numpy: what the engine computes, to 1e-6.

        jobs: (n, job_features) float32, a row for each job (kind flat: each slot of the window).
        context: (context_features,) float32; kind flat has none.
        Returns (n, outputs) scores of kinds index, offsets and order; (n * kinds + 1,) logits of kinds
        flat and shared: slot x kinds + kind, the last one is "done". UsageError for other shapes.
        """
        architecture = architecture_of(self.kind)
        jobs, context = architecture.checked(self.shape, jobs, context)
        return architecture.forward(np, self.weights(world), jobs, context)

    def torch(self) -> torch.nn.Module:
        """A torch.nn.Module: forward(jobs, context=None, world="") as `outputs`, trainable.

        Its parameters have the names of `tensors`.
        """
        from allot.torch_network import TorchNetwork

        return TorchNetwork(self)

    def with_weights(
        self, weights: Any, trained_on: Iterable[Mapping[str, str]] | None = None
    ) -> Checkpoint:
        """This checkpoint with other weights: a module of `torch()`, or arrays by name.

        trained_on: windows of traces, {"workload": NAME, "from": WHEN, "to": WHEN}, that the new weights
        were trained on beside `sources`. None: not known, and no table will call workloads unseen.
        UsageError where names or shapes differ from `tensors`.
        """
        given = weights.state_dict() if hasattr(weights, "state_dict") else weights
        tensors = {name: _array(values) for name, values in given.items()}
        if sorted(tensors) != sorted(self.tensors):
            raise UsageError(f"weights must have the tensors {sorted(self.tensors)}, got {sorted(tensors)}")
        for name, values in tensors.items():
            if values.shape != self.tensors[name].shape:
                raise UsageError(f"tensor '{name}' must have shape {self.tensors[name].shape}, got {values.shape}")
        more = [{"unknown": "trained in Python"}] if trained_on is None else [dict(each) for each in trained_on]
        sources = self.sources + [each for each in more if each not in self.sources]
        return dataclasses.replace(
            self, tensors=tensors, sources=sources, config={**self.config, "sources": sources}
        )

    def in_world(self, world: str, index: str) -> Checkpoint:
        """With a fixed index for one more world (kind offsets): index="index:alpha=0.25,beta=0.3"."""
        return _from_dict(_allot._begin_in(self._to_dict(), world, index))

    def save(self, path: str | os.PathLike) -> None:
        """Writes the folder, whole or not at all; `allot evaluate` and `--policy learned:PATH` run it.

        Errors: DataError where this allot could not serve it; RunError where a weight is not finite.
        """
        _allot._save_checkpoint(self._to_dict(), os.fspath(path))

    def _to_dict(self) -> dict[str, Any]:
        texts = {key: json.dumps(getattr(self, key)) for key in ("shape", "state", "config")}
        return {
            "kind": self.kind, "feature_version": self.feature_version, "card": self.card,
            "tensors": self.tensors, **texts,
        }


def load_checkpoint(path: str | os.PathLike) -> Checkpoint:
    """Reads a checkpoint folder; neither torch nor safetensors is needed.

    DataError, with the file, the rule and both values, for what is missing or damaged, and for a
    network, feature version or shape that this allot does not know.
    """
    return _from_dict(_allot._load_checkpoint(os.fspath(path)))


def new_checkpoint(network: str = "shared", seed: int = 0) -> Checkpoint:
    """Untrained weights: "index", "shared:hidden=24", ... (`allot list networks`). UsageError if unknown."""
    return _from_dict(_allot._fresh_checkpoint(network, seed))


def networks() -> list[dict[str, Any]]:
    """All networks of this allot: name, summary, actions, feature_version."""
    return _allot._networks()


def export_onnx(checkpoint: Checkpoint | str | os.PathLike, path: str | os.PathLike, world: str = "") -> None:
    """Writes the network of `world` as an ONNX model with any number of jobs. Needs the package onnx.

    Inputs `jobs` (n, job_features) and, but for kind flat, `context` (context_features,), float32.
    Output `scores` or `logits` as of Checkpoint.outputs, equal to 1e-5. What it was trained on is in
    the model's metadata, which allot.OnnxPolicy reads.
    """
    from allot.onnx_export import write_onnx

    if not isinstance(checkpoint, Checkpoint):
        checkpoint = load_checkpoint(checkpoint)
    write_onnx(checkpoint, os.fspath(path), world)


def _array(values: Any) -> np.ndarray:
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    return np.ascontiguousarray(values, dtype=np.float32)


def _from_dict(read: dict[str, Any]) -> Checkpoint:
    config = json.loads(read["config"])
    return Checkpoint(
        kind=read["kind"],
        feature_version=read["feature_version"],
        shape=json.loads(read["shape"]),
        tensors=dict(read["tensors"]),
        state=json.loads(read["state"]),
        config=config,
        card=read["card"],
        sources=json.loads(read["sources"]),
    )
