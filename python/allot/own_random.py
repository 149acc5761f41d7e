"""The generators that all code of a process shares (Python's, numpy's, torch's), as one run's own."""

from __future__ import annotations

import contextlib
import random
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def _torch_state() -> tuple[Any, list[Any]]:
    torch = sys.modules["torch"]
    return torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []


def _set_torch_state(state: tuple[Any, list[Any]]) -> None:
    torch = sys.modules["torch"]
    torch.set_rng_state(state[0])
    if state[1]:
        torch.cuda.set_rng_state_all(state[1])


def _libraries() -> dict[str, tuple[Callable[[], Any], Callable[[Any], None], Callable[[int], Any]]]:
    """By name: how the state is read and set, and how it is made from a seed."""
    known = {
        "random": (random.getstate, random.setstate, random.seed),
        "numpy": (np.random.get_state, np.random.set_state, lambda seed: np.random.seed(seed % 2**32)),
    }
    if "torch" in sys.modules:
        known["torch"] = (_torch_state, _set_torch_state, lambda seed: sys.modules["torch"].manual_seed(seed % 2**63))
    return known


class OwnRandom:
    """What a run draws from the shared generators depends on its seed alone, whatever else draws from them.

    Inside `turn()` they are the run's own and no other run has its turn; after it they are what they were.
    """

    _turn = threading.RLock()

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._states: dict[str, Any] = {}  # by library; not there: it has not been used yet

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        with self._turn:
            before = {}
            for name, (state, restore, start) in _libraries().items():
                before[name] = state()
                if name in self._states:
                    restore(self._states[name])
                else:
                    start(self._seed)
            try:
                yield
            finally:
                for name, (state, restore, start) in _libraries().items():
                    self._states[name] = state()
                    if name in before:
                        restore(before[name])
