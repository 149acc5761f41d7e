"""Episode logs as data to learn from (docs/formats/episode_log.md).

`EpisodeLog` reads a log of ``--log`` with h5py alone; Minari reads the same files. `flat_dataset` gives observations
as one Box, for libraries that take nothing else. Needs h5py, nothing more.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, Sequence

import numpy as np

from allot.errors import DataError, UsageError, reading
from allot.features import Feature, features_of

if TYPE_CHECKING:
    import h5py

SCHEMA = "allot-episode-log/2"
_FILE = "main_data.hdf5"
# The order of gymnasium.spaces.flatten: Dict spaces are sorted by key.
_TENSORS = ("context", "job_mask", "jobs")


@dataclass
class Episode:
    """One episode of T steps; W slots (jobs by submit time), K configurations that an action can name.

    observations: ``jobs`` float32 (T+1, W, features), ``context`` float32 (T+1, features), ``job_mask`` uint8 (T+1, W).
    actions: int64 (T, W); 0: the job of the slot gets nothing, k: configuration k - 1 of its table.
    rewards: float64 (T,), job-seconds. terminations, truncations: bool (T,).
    dt: float64 (T,), seconds that each step lasted; steps are uneven, a time-aware discount is ``gamma ** dt``.
    time: float64 (T+1,), seconds. job: int32 (T+1, W), index into job_ids, -1: no job in the slot.
    legal: bool (T+1, W, K), the configurations that a job could have if nothing else were on the cluster.
    left_out: how many times a job was given what `actions` cannot say (beyond W, beyond K).
    """

    id: int
    seed: int | None
    observations: dict[str, np.ndarray]
    actions: np.ndarray
    rewards: np.ndarray
    terminations: np.ndarray
    truncations: np.ndarray
    dt: np.ndarray
    time: np.ndarray
    job: np.ndarray
    job_ids: list[str]
    legal: np.ndarray
    left_out: int

    def __len__(self) -> int:
        return len(self.rewards)

    def slot_ids(self, step: int) -> list[str | None]:
        """The ids of the jobs in the slots at a step, None where there is none."""
        return [None if row < 0 else self.job_ids[row] for row in self.job[step]]

    def action_masks(self) -> np.ndarray:
        """As ``info["action_mask"]`` of the environment: int8 (T+1, W * (K + 1)); 1: legal, by slot and choice.

        A configuration beside a partner on the same GPUs is never legal as a choice, though a policy that pairs jobs may
        have given it.
        """
        steps, slots, width = self.legal.shape
        masks = np.ones((steps, slots, width + 1), np.int8)
        masks[:, :, 1:] = self.legal
        return masks.reshape(steps, -1)

    def flat_observations(self) -> np.ndarray:
        """The observations as one float32 array (T+1, N), in the order of `EpisodeLog.flat_features`."""
        parts = [self.observations[name].reshape(len(self) + 1, -1) for name in _TENSORS]
        return np.concatenate([part.astype(np.float32) for part in parts], axis=1)


class EpisodeLog:
    """A log: ``len(log)`` episodes, read one by one as ``log[0]`` or in a loop.

    path: the folder of the data set (``FOLDER/cluster/fifo-v0``), its ``data`` folder, or ``main_data.hdf5``.
    Raises DataError naming the file: not a log of allot, or of another schema.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        import h5py

        self.path = _data_file(Path(path))
        with reading(self.path, "an episode log"):
            self._file: h5py.File = h5py.File(self.path, "r")
            try:
                self._read_attributes()
            except BaseException:
                self._file.close()
                raise

    def _read_attributes(self) -> None:
        self.attributes: dict = _attributes(self._file)
        schema = self.attributes.get("schema")
        if schema is None and "schema" in self._file.attrs:
            raise DataError(f"{self.path}: attribute 'schema' is {_VARIABLE}")
        if schema != SCHEMA:
            again = self.attributes.get("command")
            raise DataError(
                f"{self.path}: the log has schema '{schema}', this allot needs '{SCHEMA}': write it again"
                + (f": {again}" if again else "")
            )
        self.feature_version = int(self.attributes["feature_version"])
        self.max_jobs = int(self.attributes["max_jobs"])
        self.max_configurations = int(self.attributes["max_configurations"])
        #: What the numbers of each tensor are; of ``jobs`` by its last axis.
        self.features = {
            name: features_of(json.loads(self.attributes[f"features_{name}"])) for name in ("jobs", "context")
        }
        self._episodes = sum(name.startswith("episode_") for name in self._file)

    @property
    def metadata(self) -> dict:
        """metadata.json, as Minari reads it."""
        path = self.path.with_name("metadata.json")
        with reading(path, "Minari's description of a log"):
            return json.loads(path.read_text(encoding="utf-8"))

    @property
    def flat_features(self) -> list[Feature]:
        """What the numbers of a flat observation are: ``jobs[3].age``. Features of empty slots are 0."""
        mask = [Feature(f"job_mask[{slot}]", "1", self.attributes["features_job_mask"], 0, 1) for slot in range(self.max_jobs)]
        context = [Feature(f"context.{f.name}", f.unit, f.meaning, min(f.low, 0), max(f.high, 0)) for f in self.features["context"]]
        jobs = [
            Feature(f"jobs[{slot}].{f.name}", f.unit, f.meaning, min(f.low, 0), max(f.high, 0))
            for slot in range(self.max_jobs)
            for f in self.features["jobs"]
        ]
        return [*context, *mask, *jobs]

    def __len__(self) -> int:
        return self._episodes

    def __iter__(self) -> Iterator[Episode]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int) -> Episode:
        if not 0 <= number < len(self):
            raise IndexError(f"{self.path}: episodes are 0..{len(self) - 1}, got {number}")
        with reading(self.path, f"an episode log, in episode {number}"):
            return self._episode(number, self._file[f"episode_{number}"])

    def _episode(self, number: int, group: h5py.Group) -> Episode:
        legal = np.unpackbits(group["infos/legal"][()], axis=-1, bitorder="little")
        return Episode(
            id=number,
            seed=int(group.attrs["seed"]) if "seed" in group.attrs else None,
            observations={name: group["observations"][name][()] for name in _TENSORS},
            actions=group["actions"][()],
            rewards=group["rewards"][()],
            terminations=group["terminations"][()],
            truncations=group["truncations"][()],
            dt=group["infos/dt"][1:],
            time=group["infos/time"][()],
            job=group["infos/job"][()],
            job_ids=_texts(group["workload/job_id"]),
            legal=legal[:, :, : self.max_configurations].astype(bool),
            left_out=int(group.attrs["actions_left_out"]),
        )

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> EpisodeLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass
class FlatDataset:
    """Logs with observations as one Box: float32 (N,) with bounds and a name for every number.

    observations (T+1, N) and the other arrays: one a episode, in the order of the logs.
    """

    names: list[str]
    low: np.ndarray
    high: np.ndarray
    feature_version: int
    observations: list[np.ndarray]
    actions: list[np.ndarray]
    rewards: list[np.ndarray]
    terminations: list[np.ndarray]
    truncations: list[np.ndarray]
    dt: list[np.ndarray]
    action_masks: list[np.ndarray]


def read_logs(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[EpisodeLog]:
    """Opens one log or several that go together. DataError naming two of them where feature versions or windows differ."""
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not several:
        raise UsageError("at least one log is needed, got none")
    logs = [EpisodeLog(path) for path in several]
    for what in ("feature_version", "max_jobs", "max_configurations"):
        for log in logs:
            first, other = getattr(logs[0], what), getattr(log, what)
            if first != other:
                raise DataError(f"logs of several {what} cannot be mixed: '{logs[0].path}' has {first}, '{log.path}' has {other}")
    return logs


def flat_dataset(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], out: str | os.PathLike[str] | None = None
) -> FlatDataset | Path:
    """Observations as one Box, in the order of `gymnasium.spaces.flatten`, with the name of every number.

    path: a log, or several of one feature version. out: None, or a Minari datasets folder, where one log is written as
    ``cluster/NAME-flat-v0``; its recovered environment has FlattenObservation around it.
    Returns the arrays, or the folder written. Raises DataError naming the file for what cannot be read or mixed.
    """
    logs = read_logs(path)
    try:
        if out is None:
            return _flat_arrays(logs)
        if len(logs) != 1:
            raise UsageError(f"with out= one log is written, got {len(logs)}")
        return _write_flat(logs[0], Path(out))
    finally:
        for log in logs:
            log.close()


def _flat_arrays(logs: list[EpisodeLog]) -> FlatDataset:
    features = logs[0].flat_features
    flat = FlatDataset(
        [f.name for f in features],
        np.array([f.low for f in features], np.float32),
        np.array([f.high for f in features], np.float32),
        logs[0].feature_version,
        *([] for _ in range(7)),
    )
    for log in logs:
        for episode in log:
            flat.observations.append(episode.flat_observations())
            flat.action_masks.append(episode.action_masks())
            for name in ("actions", "rewards", "terminations", "truncations", "dt"):
                getattr(flat, name).append(getattr(episode, name))
    return flat


def _write_flat(log: EpisodeLog, root: Path) -> Path:
    import h5py

    metadata = log.metadata
    namespace, _, name = metadata["dataset_id"].rpartition("/")
    stem, _, version = name.rpartition("-v")
    dataset_id = f"{namespace}/{stem}-flat-v{version}".lstrip("/")
    folder = root / dataset_id
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    part = data / f"{_FILE}.part"
    features = log.flat_features
    with h5py.File(part, "w") as file:
        file.attrs.update(log.attributes)
        file.attrs["schema"] = f"{SCHEMA}-flat"
        file.attrs["names"] = json.dumps([f.name for f in features])
        for episode in log:
            source = log._file[f"episode_{episode.id}"]
            group = file.create_group(f"episode_{episode.id}")
            group.attrs.update(_attributes(source))
            for item in ("actions", "rewards", "terminations", "truncations", "infos"):
                source.copy(item, group)
            group.create_dataset("observations", data=episode.flat_observations(), compression="gzip", shuffle=True)
    space = {
        "type": "Box",
        "dtype": "float32",
        "shape": [len(features)],
        "low": [f.low for f in features],
        "high": [f.high for f in features],
    }
    metadata |= {"dataset_id": dataset_id, "observation_space": json.dumps(space), "dataset_size": round(part.stat().st_size / 1e6, 1)}
    if "env_spec" in metadata:
        spec = json.loads(metadata["env_spec"])
        flatten = {"name": "FlattenObservation", "entry_point": "gymnasium.wrappers:FlattenObservation", "kwargs": {}}
        spec["additional_wrappers"] = [*spec["additional_wrappers"], flatten]
        metadata["env_spec"] = json.dumps(spec)
    os.replace(part, data / _FILE)
    (data / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    return folder


# A damaged one may end the process: HDF5 keeps it without a checksum.
_VARIABLE = "text of variable length, which is not safe to read once it is damaged: write the log again"


def _has_variable_text(kind: np.dtype) -> bool:
    import h5py

    text = h5py.check_string_dtype(kind)
    return text is not None and text.length is None


def _attributes(node: h5py.Group) -> dict:
    """What allot says of a group; others' text of variable length is left out."""
    found: dict = {}
    for name in node.attrs:
        if not _has_variable_text(node.attrs.get_id(name).dtype):
            value = node.attrs[name]
            found[name] = value.decode() if isinstance(value, bytes) else value
    for name, texts in node.get("long_texts", {}).items():
        found[name] = _texts(texts)[0]
    return found


def _texts(array: h5py.Dataset) -> list[str]:
    if _has_variable_text(array.dtype):
        raise DataError(f"{array.file.filename}: data set '{array.name}' is {_VARIABLE}")
    return list(array.asstr()[()])


def _data_file(path: Path) -> Path:
    if path.is_file():
        return path
    for folder in (path / "data", path):
        if (folder / _FILE).is_file():
            return folder / _FILE
    raise DataError(f"{path}: an episode log must hold data/{_FILE}")
