"""What the numbers of observations are: the tables behind docs/features.md and the attributes of episode logs."""

from __future__ import annotations

from dataclasses import dataclass

from allot import _allot


@dataclass(frozen=True)
class Feature:
    """One number of an observation: its name, unit and meaning, and bounds that hold always."""

    name: str
    unit: str
    meaning: str
    low: float
    high: float


def features_of(rows: list[dict]) -> tuple[Feature, ...]:
    """The features of a table, as logs and the engine have it."""
    return tuple(Feature(**row) for row in rows)


_tables = _allot.feature_tables()

#: Bumped with any change of a feature: logs and checkpoints of several versions do not go together.
VERSION: int = _tables["feature_version"]
#: The last axis of the tensor ``jobs``.
JOBS: tuple[Feature, ...] = features_of(_tables["features"]["jobs"])
#: The tensor ``context``.
CONTEXT: tuple[Feature, ...] = features_of(_tables["features"]["context"])
