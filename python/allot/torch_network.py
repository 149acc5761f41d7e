"""A checkpoint's network as a torch module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from allot.errors import UsageError
from allot.forward import architecture_of

if TYPE_CHECKING:
    from allot.checkpoints import Checkpoint


class TorchNetwork(nn.Module):
    """forward(jobs, context=None, world=""): shapes as of Checkpoint.outputs; gradients reach all parameters."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__()
        self._architecture = architecture_of(checkpoint.kind)
        self.worlds = checkpoint.worlds
        for name, values in checkpoint.tensors.items():
            # A dot in a parameter's name means a module within a module, so state_dict() has the names of the file.
            *path, last = name.split(".")
            owner: nn.Module = self
            for part in path:
                if part not in owner._modules:
                    owner.add_module(part, nn.Module())
                owner = owner._modules[part]
            owner.register_parameter(last, nn.Parameter(torch.tensor(values)))

    def forward(self, jobs: torch.Tensor, context: torch.Tensor | None = None, world: str = "") -> torch.Tensor:
        if world and self.worlds and world not in self.worlds:
            raise UsageError(f"the network knows the worlds {', '.join(self.worlds)}, got '{world}'")
        named = dict(self.named_parameters())
        weights = {name: values for name, values in named.items() if "@" not in name}
        for name in weights if world else ():
            if f"{name}@{world}" in named:
                weights[name] = weights[name] + named[f"{name}@{world}"]
        return self._architecture.forward(torch, weights, jobs, context)
