"""Many simulated clusters as one Gymnasium vector environment, stepped in C++ on several threads."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from allot import _allot
from allot.envs import spaces as of
from allot.envs.cluster_env import named_records
from allot.envs.options import BeyondWindow, OwnProcess, checked_seed, split
from allot.errors import UsageError

_COMMON = (
    "time_s", "dt", "decision", "active_jobs", "finished_jobs", "decided", "illegal_action", "unplaced_jobs",
    "jobs_beyond_window",
)
_AT_END = ("avg_jct_s", "makespan_s", "unfinished_jobs")
_OF_EACH = ("job_names", "job_records", "configurations")  # what the pool knows of each environment
_SHARED = {
    "action_space": "single_action_space", "observation_space": "single_observation_space", "options": "options",
    "metadata": "metadata", "spec": "spec", "render_mode": "render_mode",
}


class GpuClusterVectorEnv(VectorEnv):
    """`num_envs` environments with the same options: what `SyncVectorEnv` of GpuClusterEnv gives, to the bit.

    - `threads`: 0 for all cores; results do not depend on it.
    - `autoreset_mode`: Gymnasium's NEXT_STEP (default), SAME_STEP, or DISABLED with `options={"reset_mask": ...}`.
    - `copy`: False gives views of the engine's memory, which the next step overwrites.

    `send(actions, env_ids)` and `recv(count)` step without waiting for all.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode is not None:
            raise UsageError("a pool is not rendered: make one environment for that")
        self.num_envs = num_envs
        self.options = dict(options)
        self.copy = copy
        self.render_mode = None
        self.autoreset_mode = _mode(autoreset_mode)
        for name, value, most in (("num_envs", num_envs, 2**24), ("threads", threads, 1024)):
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
                raise UsageError(f"{name} must be a whole number up to {most}, got {value!r}")
        self._world, self._own = split(options)
        self._threads = threads
        self._pool = _allot.Pool(self._world, self._own, num_envs, threads, self.autoreset_mode.value)
        spec = self._pool.spec()
        self.single_observation_space = of.observation_space(spec, self._own)
        self.single_action_space = of.action_space(spec)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = of.batch_of_actions(self.single_action_space, num_envs)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": [], **_allot.feature_tables()}
        views = self._pool.views()
        self._shown = [_Shown(0, views["observation"], self.single_observation_space)]
        self._now = self._shown[0]
        self._final = {name: views["final_observation"][name] for name in self.single_observation_space.spaces}
        self._info_of = views["info"]
        self._final_columns = _info_columns(views["final_info"], views["final_observation"])
        self._rewards = views["rewards"]
        self._terminated = views["terminated"].view(bool)
        self._truncated = views["truncated"].view(bool)
        self._everywhere = np.ones(num_envs, dtype=bool)
        self._process = OwnProcess("vector environment")
        self._beyond = BeyondWindow(self._own)
        self._begun = False
        weakref.finalize(self, self._pool.settle)  # also when the program ends

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict, dict]:
        """Begins episodes: environment i with `seed + i` or `seed[i]`; without a seed, where there is none, its next.

        `options["reset_mask"]` (bool, (num_envs,)) resets only some.
        """
        self._check_usable()
        mask = self._reset_mask(options)
        if seed is None and not self._begun:
            seed = int(self.np_random.integers(2**48))
        if seed is None:
            seeds: list[int | None] = [None] * self.num_envs
        elif isinstance(seed, (int, np.integer)):
            seed = checked_seed(seed)
            super().reset(seed=seed)
            seeds = [seed + i for i in range(self.num_envs)]
        else:
            seeds = [None if one is None else checked_seed(one) for one in seed]
            if len(seeds) != self.num_envs:
                raise UsageError(f"reset needs one seed an environment: expected {self.num_envs}, got {len(seeds)}")
        self._show_in_unused()
        self._pool.reset(seeds, mask.view(np.uint8).tolist())
        self._begun = True
        self._beyond.check(self._info_of["jobs_beyond_window"].max())
        return self._observation(), self._info(mask, at_end=False)

    def step(self, actions: Any) -> tuple[dict, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Steps all; returns batched (observations, rewards, terminations, truncations, infos)."""
        self._check_usable()
        actions = of.checked_action(actions, self.single_action_space, self.num_envs)
        self._show_in_unused()
        self._pool.step(actions)
        self._beyond.check(self._info_of["jobs_beyond_window"].max())
        return self._result()

    def send(self, actions: Any, env_ids: Any) -> None:
        """Hands actions to these environments and returns at once; each is in flight until `recv` gives it back."""
        self._check_usable()
        ids = [int(i) for i in env_ids]
        actions = of.checked_action(actions, self.single_action_space, len(ids))
        if self._now.which != 0:  # rows go out as copies: the memory may be that of an observation
            self._show_in(self._shown[0])
        self._pool.send(actions, ids)

    def recv(self, count: int) -> tuple[dict, np.ndarray, np.ndarray, np.ndarray, dict, np.ndarray]:
        """Waits until `count` environments in flight are done.

        Returns (observations, rewards, terminations, truncations, infos, env_ids), rows in the order of env_ids. Where an
        episode ended infos has avg_jct_s, makespan_s and unfinished_jobs, in mode SAME_STEP also final_obs.
        """
        self._check_usable()
        ids = np.array(self._pool.receive(count), dtype=np.int64)
        observation = {name: view[ids] for name, view in self._now.observed.items()}
        columns = self._columns()
        self._beyond.check(columns["jobs_beyond_window"][ids].max())
        info = {name: columns[name][ids] for name in (*_COMMON, "job_ids", "action_mask")}
        over = self._terminated[ids] | self._truncated[ids]
        if over.any():
            same_step = self.autoreset_mode == AutoresetMode.SAME_STEP
            of_end = self._final_columns if same_step else columns
            info.update({name: np.where(over, of_end[name][ids], 0) for name in _AT_END})
            if same_step:
                info["final_obs"] = {name: view[ids] for name, view in self._final.items()}
        return observation, self._rewards[ids], self._terminated[ids], self._truncated[ids], info, ids

    def action_masks(self) -> np.ndarray:
        """Which actions are legal now: bool (num_envs, ...), as GpuClusterEnv.action_masks."""
        self._check_usable()
        return self._now.action_mask.astype(bool)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What each environment answers: of `job_names`, `job_records`, `configurations` or `action_masks`."""
        self._check_usable()
        if args or kwargs:
            raise UsageError(f"'{name}' of the environments in a pool takes no arguments")
        if name == "action_masks":
            return tuple(self.action_masks())
        if name not in _OF_EACH:
            raise UsageError(
                f"environments in a pool answer {', '.join([*_OF_EACH, 'action_masks'])}, got '{name}': for anything else make "
                "them one by one"
            )
        asked = getattr(self._pool, name)
        answers = (asked(i) for i in range(self.num_envs))
        return tuple(named_records(rows) for rows in answers) if name == "job_records" else tuple(answers)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """As `call`; what all environments share (spaces, options, metadata) as often as there are environments."""
        if name in _OF_EACH:
            return self.call(name)
        if name in _SHARED:
            return (getattr(self, _SHARED[name]),) * self.num_envs
        return self.call(name)

    def close_extras(self, **kwargs: Any) -> None:
        """Waits for what is in flight."""
        self._pool.settle()
        self.closed = True

    def _check_usable(self) -> None:
        if self.closed:
            raise UsageError("the vector environment is closed")
        self._process.check()

    def _reset_mask(self, options: dict[str, Any] | None) -> np.ndarray:
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        if options:
            raise UsageError(f"reset takes no option but reset_mask, got {', '.join(map(str, options))}")
        if mask is None:
            return self._everywhere
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"reset_mask must be a numpy array of bool, got {getattr(mask, 'dtype', type(mask))}")
        if mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask must have shape ({self.num_envs},), got {mask.shape}")
        if not mask.any():
            raise ValueError("reset_mask must hold at least one True, all are False")
        return np.ascontiguousarray(mask)

    def _copy(self, array: np.ndarray) -> np.ndarray:
        return array.copy() if self.copy else array

    def _show_in(self, shown: _Shown) -> None:
        self._pool.show_in(shown.which)
        self._now = shown

    def _show_in_unused(self) -> None:
        """Before the engine writes: to where no observation lies that somebody still has."""
        if not self.copy:
            return
        for shown in self._shown[1:]:
            if shown.unused():
                return self._show_in(shown)
        if len(self._shown) <= _Shown.KEPT:
            which, views = self._pool.add_observation()
            self._shown.append(_Shown(which, views, self.single_observation_space))
            return self._show_in(self._shown[-1])
        return self._show_in(self._shown[0])

    def _columns(self) -> dict[str, np.ndarray]:
        return {**self._info_of, "job_ids": self._now.job_ids, "action_mask": self._now.action_mask}

    def _observation(self) -> dict[str, np.ndarray]:
        if self.copy and self._now.which == 0:
            return {name: view.copy() for name, view in self._now.observed.items()}
        return dict(self._now.observed)

    def _result(self) -> tuple[dict, np.ndarray, np.ndarray, np.ndarray, dict]:
        return (
            self._observation(),
            self._copy(self._rewards),
            self._copy(self._terminated),
            self._copy(self._truncated),
            self._info(self._everywhere, at_end=True),
        )

    def _info(self, where: np.ndarray, at_end: bool) -> dict[str, Any]:
        over = self._terminated | self._truncated if at_end else np.zeros(self.num_envs, dtype=bool)
        info: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and over.any():
            final = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(over):
                final[i] = {name: view[i].copy() for name, view in self._final.items()}
            info["final_obs"], info["_final_obs"] = final, over.copy()
            info["final_info"] = self._columns_where(self._final_columns, over, over)
            info["_final_info"] = over.copy()
            over = np.zeros(self.num_envs, dtype=bool)
        info.update(self._columns_where(self._columns(), where, over))
        return info

    def _columns_where(self, columns: dict[str, np.ndarray], where: np.ndarray, over: np.ndarray) -> dict[str, Any]:
        """As Gymnasium puts infos together: an array by key, 0 where `where` is False, and `_key` with the mask."""
        info: dict[str, Any] = {}
        everywhere, mask = where.all(), where.copy()
        lent = everywhere and columns is not self._final_columns and self._now.which != 0
        for name in (*_COMMON, "job_ids", "action_mask"):
            column = columns[name]
            wide = np.int64 if column.dtype == np.int32 else column.dtype
            if not everywhere:
                column = column * _wide(where, column)
            own = lent and name in ("job_ids", "action_mask")  # as the observations: in memory of their own
            info[name] = column if own else column.astype(wide)
            info[f"_{name}"] = mask
        if over.any():
            for name in _AT_END:
                column = columns[name].astype(np.int64 if columns[name].dtype == np.int32 else columns[name].dtype)
                info[name], info[f"_{name}"] = column * over, over.copy()
        return info

    def __getstate__(self) -> dict[str, Any]:
        return {
            "num_envs": self.num_envs,
            "threads": self._threads,
            "autoreset_mode": self.autoreset_mode,
            "copy": self.copy,
            "options": self.options,
            "spec": self.spec,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        spec = state.pop("spec")
        self.__init__(**{**state.pop("options"), **state})
        self.spec = spec


def _info_columns(columns: dict[str, np.ndarray], observation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        **columns,
        "job_ids": observation["job_ids"],
        "action_mask": observation["action_mask"].view(np.int8),
    }


class _Shown:
    """A piece of the engine's memory that observations are written to.

    Number 0 is the engine's own, never handed out but by copy=False. The others are handed out without a copy, and
    written again when nobody refers to them any more; beyond KEPT of them observations are copied.
    """

    KEPT = 4

    def __init__(self, which: int, views: dict[str, np.ndarray], space: Any) -> None:
        self.which = which
        mask = views.pop("action_mask")  # views of a view refer to this one
        self.job_ids, self.action_mask = views.pop("job_ids"), mask.view(np.int8)
        self.observed = {name: mask if name == "action_mask" else views.pop(name) for name in space.spaces}
        self._arrays = [*self.observed.values(), self.job_ids, self.action_mask, mask]
        del mask
        self._counts = self._references()  # what is ours

    def _references(self) -> list[int]:
        return [sys.getrefcount(array) for array in self._arrays]

    def unused(self) -> bool:
        return self._references() == self._counts


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    """The mode by its value ("NextStep") or its name ("NEXT_STEP")."""
    names = {**{each.name: each for each in AutoresetMode}, **{each.value: each for each in AutoresetMode}}
    if isinstance(mode, AutoresetMode):
        return mode
    if mode not in names:
        raise UsageError(f"autoreset_mode must be one of {', '.join(each.name for each in AutoresetMode)}, got {mode!r}")
    return names[mode]


def _wide(mask: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The mask to multiply a column of any rank with, which keeps its type."""
    return mask.reshape((-1,) + (1,) * (column.ndim - 1))
