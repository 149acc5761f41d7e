"""TorchRL: an environment whose tensordict has the key `action_mask`, and whose random actions are legal."""

from __future__ import annotations

from typing import Any

from torchrl.envs import ActionMask, Compose, DTypeCastTransform, GymWrapper, TransformedEnv

from allot.envs import GpuClusterEnv


def make(device: str = "cpu", **options: Any) -> TransformedEnv:
    """GpuClusterEnv(**options) for TorchRL, Discrete and MultiDiscrete actions as whole numbers."""
    import torch

    options.setdefault("action", "increments")
    env = GymWrapper(GpuClusterEnv(mask_in_obs=True, **options), categorical_action_encoding=True, device=device)
    cast = DTypeCastTransform(torch.uint8, torch.bool, in_keys=["action_mask"])
    return TransformedEnv(env, Compose(cast, ActionMask()))
