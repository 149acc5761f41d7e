"""Gymnasium spaces of the engine's specifications."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from allot.errors import UsageError

# What is there to name jobs and to mask actions, not to learn from: in `info`, not in the observation.
ONLY_INFO = ("job_ids", "action_mask")


def _drawn(rng: np.random.Generator, mask: np.ndarray) -> np.ndarray:
    """The place of one of the ones in each row of a mask, drawn evenly; 0 where there is none."""
    return np.argmax((1 - rng.random(mask.shape)) * (mask != 0), axis=-1)


def _shaped(mask: Any, shape: tuple[int, ...], space: spaces.Space) -> np.ndarray:
    """The mask in the shape in which it is asked for. UsageError where it has another number of elements."""
    array = np.asarray(mask)
    if array.size != np.prod(shape):
        raise UsageError(f"a mask of {space} must have {np.prod(shape)} elements {shape}, got shape {array.shape}")
    return array.reshape(shape)


class Choices(spaces.MultiDiscrete):
    """MultiDiscrete of equal sizes; `sample` takes its mask flat, too, as `info["action_mask"]` and MaskablePPO have it."""

    def sample(self, mask: Any = None, probability: Any = None) -> np.ndarray:
        if mask is None:
            return super().sample(probability=probability)
        shaped = _shaped(mask, (*self.nvec.shape, int(self.nvec.flat[0])), self)
        return _drawn(self.np_random, shaped).astype(self.dtype)


class BatchOfChoices(spaces.Box):
    """The Box that Gymnasium makes of several MultiDiscrete; `sample` takes their masks, flat in each row."""

    def __init__(self, single: Choices, count: int) -> None:
        self.choices = int(single.nvec.flat[0])
        super().__init__(0, self.choices - 1, (count, *single.shape), single.dtype)

    def sample(self, mask: Any = None, probability: Any = None) -> np.ndarray:
        if mask is None:
            return super().sample(probability=probability)
        return _drawn(self.np_random, _shaped(mask, (*self.shape, self.choices), self)).astype(self.dtype)


class Scores(spaces.Box):
    """Box of numbers for each slot; `sample` takes the mask of slots and leaves 0 where it is 0."""

    def sample(self, mask: Any = None, probability: Any = None) -> np.ndarray:
        numbers = super().sample(probability=probability)
        if mask is None:
            return numbers
        return numbers * (_shaped(mask, self.shape[:-1], self)[..., None] != 0)


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
    _, dtype, shape, low, high = spec["action"]
    if spec["action_kind"] == "box":
        return Scores(low, high, tuple(shape), np.dtype(dtype).type)
    if spec["action_kind"] == "discrete":
        return spaces.Discrete(int(high) + 1)
    return Choices(np.full(shape, int(high) + 1, dtype=np.int64))


def batch_of_actions(single: spaces.Space, count: int) -> spaces.Space:
    """What gymnasium's batch_space gives, whose `sample` takes the masks of `info["action_mask"]`."""
    if isinstance(single, Choices):
        return BatchOfChoices(single, count)
    if isinstance(single, spaces.Discrete):
        return Choices(np.full(count, single.n, dtype=np.int64))
    return Scores(-1, 1, (count, *single.shape), single.dtype.type)


def checked_action(action: Any, space: spaces.Space, count: int | None = None) -> np.ndarray:
    """The action (of `count` environments) as contiguous float32. UsageError for a wrong shape or type."""
    array = np.asarray(action)
    shape = space.shape if count is None else (count, *space.shape)
    if array.shape != shape:
        raise UsageError(f"an action must have shape {shape}, got {array.shape}")
    wanted = "f" if isinstance(space, spaces.Box) else "iu"
    if array.dtype.kind not in wanted:
        kind = "floats" if wanted == "f" else "whole numbers"
        raise UsageError(f"an action must hold {kind} ({space.dtype}), got {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.float32)
