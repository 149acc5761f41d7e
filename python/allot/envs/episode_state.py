"""A moment of an episode that can be returned to: what `GpuClusterEnv.get_state` gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from allot.errors import UsageError


class EpisodeState:
    """A moment of an episode: its seed and the actions that led there. Immutable, can be pickled, for any environment
    of equal options.

    It costs a reference to the actions; `set_state` plays them again in the engine, without observations.
    """

    def __init__(self, options: dict[str, Any], seed: int, actions: list[Any], random: dict[str, Any]) -> None:
        self.options, self.seed, self.random = options, seed, random
        self._actions = actions  # of the environment, which goes on appending: the first `steps` are ours
        self.steps = len(actions)

    @property
    def actions(self) -> list[Any]:
        """The actions from the start of the episode, whole numbers or float32 arrays."""
        return self._actions[: self.steps]

    def rows(self, width: int) -> np.ndarray:
        """The actions as float32 (steps, width)."""
        return np.array(self.actions, dtype=np.float32).reshape(self.steps, width)

    def check(self, options: dict[str, Any]) -> None:
        """UsageError naming an option that differs: the actions would lead elsewhere."""
        for name in sorted({*self.options, *options}):
            ours, theirs = self.options.get(name), options.get(name)
            if ours != theirs:
                raise UsageError(f"the state is of an environment with {name}={ours!r}, this one has {theirs!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_actions": self.actions}

    def __repr__(self) -> str:
        return f"EpisodeState(seed={self.seed}, steps={self.steps})"
