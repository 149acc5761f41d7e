"""TorchRL: an environment whose tensordict has the key `action_mask`, and whose random actions are legal."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from torchrl.envs import ActionMask, Compose, DTypeCastTransform, GymWrapper, TransformedEnv

from allot.envs import GpuClusterEnv


class _MaskBySlot(gymnasium.ObservationWrapper):
    """The mask of a choice as TorchRL needs it for MultiDiscrete: (max_jobs, max_configurations + 1), not flat."""

    def __init__(self, env: GpuClusterEnv) -> None:
        super().__init__(env)
        self._shape = (len(env.action_space.nvec), int(env.action_space.nvec[0]))
        mask = gymnasium.spaces.Box(0, 1, self._shape, np.uint8)
        self.observation_space = gymnasium.spaces.Dict({**env.observation_space.spaces, "action_mask": mask})

    def observation(self, observation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {**observation, "action_mask": observation["action_mask"].reshape(self._shape)}


def make(device: str = "cpu", **options: Any) -> TransformedEnv:
    """GpuClusterEnv(**options) for TorchRL; actions of `increments` and `choice` are whole numbers, not one-hot.

    `action_mask` (bool) has the shape of the logits: (3 * max_jobs + 1,) of increments, (max_jobs, max_configurations + 1)
    of choice. Of index it says in which slots there are jobs, and every action is legal.
    """
    import torch

    options.setdefault("action", "increments")
    env: gymnasium.Env = GpuClusterEnv(mask_in_obs=True, **options)
    if options["action"] == "choice":
        env = _MaskBySlot(env)
    wrapped = GymWrapper(env, categorical_action_encoding=True, device=device)
    transforms: list[Any] = [DTypeCastTransform(torch.uint8, torch.bool, in_keys=["action_mask"])]
    if options["action"] != "index":
        transforms.append(ActionMask())
    return TransformedEnv(wrapped, Compose(*transforms))
