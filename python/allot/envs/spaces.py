"""Gymnasium spaces of the engine's specifications."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

# What is there to name jobs and to mask actions, not to learn from: in `info`, not in the observation.
ONLY_INFO = ("job_ids", "action_mask")


def box_of(tensor: tuple) -> spaces.Box:
    """The Box of one tensor: (name, dtype, shape, low, high)."""
    _, dtype, shape, low, high = tensor
    return spaces.Box(low, high, tuple(shape), np.dtype(dtype).type)


def observation_space(spec: dict[str, Any], own: dict[str, Any]) -> spaces.Dict:
    """Dict of jobs (max_jobs, features), context (features,), job_mask (max_jobs,), and what the action form adds."""
    left_out = set(ONLY_INFO)
    if own["mask_in_obs"]:
        left_out.discard("action_mask")
    if own["action"] != "increments":
        left_out.add("granted")
    return spaces.Dict({tensor[0]: box_of(tensor) for tensor in spec["observation"] if tensor[0] not in left_out})


def action_space(spec: dict[str, Any]) -> spaces.Space:
    """Box of index numbers, Discrete of increments, or MultiDiscrete of a choice for each slot."""
    _, _, shape, _, high = spec["action"]
    if spec["action_kind"] == "box":
        return box_of(spec["action"])
    if spec["action_kind"] == "discrete":
        return spaces.Discrete(int(high) + 1)
    return spaces.MultiDiscrete(np.full(shape, int(high) + 1, dtype=np.int64))


def checked_action(action: Any, space: spaces.Space, count: int | None = None) -> np.ndarray:
    """The action (of `count` environments) as contiguous float32. UsageError for a wrong shape or type."""
    from allot.errors import UsageError

    array = np.asarray(action)
    shape = space.shape if count is None else (count, *space.shape)
    if array.shape != shape:
        raise UsageError(f"an action must have shape {shape}, got {array.shape}")
    wanted = "f" if isinstance(space, spaces.Box) else "iu"
    if array.dtype.kind not in wanted:
        kind = "floats" if wanted == "f" else "whole numbers"
        raise UsageError(f"an action must hold {kind} ({space.dtype}), got {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.float32)
