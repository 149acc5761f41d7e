"""Rewards in Python for the environments."""

from __future__ import annotations

from collections.abc import Callable


def register_reward(name: str, function: Callable, summary: str | None = None) -> None:
    """Makes function(step, observation) -> float the reward `name` of environments (reward="name").

    `step` (allot.StepFacts) is what happened between two decisions, `observation` (allot.Observation)
    what is known at the second one; it is valid during the call only. Environments call it from
    several threads, one at a time. It must depend on its arguments alone: a seed then repeats an
    episode. A name registered again means the new function. UsageError: one of allot's own rewards.
    """
    from allot import _allot

    if not callable(function):
        from allot.errors import UsageError

        raise UsageError(f"a reward is a function (step, observation) -> float, got {type(function).__name__}")
    text = summary or (function.__doc__ or "in Python").strip().splitlines()[0]
    _allot._register_reward(name, function, text)
