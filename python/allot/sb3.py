"""Stable-Baselines3: the pool as its VecEnv, with masks for MaskablePPO.

    env = allot.sb3.make_vec_env(num_envs=8, setting="dl2:size=S", action="increments")
    MaskablePPO("MultiInputPolicy", env).learn(100_000)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

from allot.envs import GpuClusterVectorEnv
from allot.errors import UsageError


_EVERY_STEP = (
    "dt", "time_s", "active_jobs", "finished_jobs", "decided", "illegal_action", "unplaced_jobs", "jobs_beyond_window",
)
_AT_END = ("avg_jct_s", "makespan_s", "unfinished_jobs")


def _rows(info: dict[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """The infos of a pool as one dict for each environment."""
    columns = [info[name].tolist() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


class PoolVecEnv(VecEnv):
    """GpuClusterVectorEnv in mode SAME_STEP as a VecEnv.

    infos have `dt`, `time_s`, `active_jobs`, `finished_jobs`, `illegal_action`, `jobs_beyond_window` and others, at the end
    of an episode also `avg_jct_s`, `makespan_s`, `unfinished_jobs` and `terminal_observation`. `env_method` knows
    `action_masks`, `job_names`, `job_records` and `configurations`.

    With `flat=True` an observation is one vector, in the order of the keys of the Dict space.
    """

    def __init__(self, num_envs: int = 1, *, threads: int = 0, flat: bool = False, **options: Any) -> None:
        self.pool = GpuClusterVectorEnv(
            num_envs, threads=threads, autoreset_mode=AutoresetMode.SAME_STEP, copy=True, **options
        )
        self._flat = flat
        self.render_mode = None
        space = self.pool.single_observation_space
        if flat:
            from gymnasium.spaces import Box

            parts = list(space.spaces.values())
            low = np.concatenate([part.low.ravel().astype(np.float32) for part in parts])
            high = np.concatenate([part.high.ravel().astype(np.float32) for part in parts])
            space = Box(low, high, dtype=np.float32)
        self._actions: np.ndarray | None = None
        super().__init__(num_envs, space, self.pool.single_action_space)

    def reset(self) -> Any:
        seeds = list(self._seeds)
        observation, _ = self.pool.reset(seed=None if seeds[0] is None else seeds)
        self._reset_seeds()
        self._reset_options()
        return self._shaped(observation)

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        observation, rewards, terminated, truncated, info = self.pool.step(self._actions)
        done = terminated | truncated
        infos = _rows(info, _EVERY_STEP)
        for i in np.flatnonzero(done):
            infos[i] = {
                **{name: info["final_info"][name][i].item() for name in (*_EVERY_STEP, *_AT_END)},
                "terminal_observation": self._shaped_one(info["final_obs"][i]),
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
            }
        return self._shaped(observation), rewards.astype(np.float32), done, infos

    def close(self) -> None:
        if not self.pool.closed:
            self.pool.close()

    def _shaped(self, observation: dict[str, np.ndarray]) -> Any:
        if not self._flat:
            return observation
        return np.concatenate(
            [part.reshape(self.num_envs, -1).astype(np.float32) for part in observation.values()], axis=1
        )

    def _shaped_one(self, observation: dict[str, np.ndarray]) -> Any:
        if not self._flat:
            return observation
        return np.concatenate([part.ravel().astype(np.float32) for part in observation.values()])

    def has_attr(self, attr_name: str) -> bool:
        return attr_name in ("action_masks", "job_names") or hasattr(self.pool, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        rows = self._get_indices(indices)
        if attr_name == "action_masks":
            return [lambda i=i: self.pool.action_masks()[i] for i in rows]
        if attr_name in ("job_names", "action_space", "observation_space"):
            values = self.pool.get_attr(attr_name)
            return [values[i] for i in rows]
        value = getattr(self.pool, attr_name)
        return [value for _ in rows]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise UsageError(f"attributes of environments in a pool cannot be set: '{attr_name}'")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        answers = self.pool.call(method_name, *args, **kwargs)
        return [answers[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        return [None] * self.num_envs


def make_vec_env(num_envs: int = 1, *, threads: int = 0, flat: bool = False, monitor: bool = True, **options: Any) -> VecEnv:
    """A PoolVecEnv; with `monitor` episodes' returns and lengths are logged as usual."""
    env: VecEnv = PoolVecEnv(num_envs, threads=threads, flat=flat, **options)
    if monitor:
        from stable_baselines3.common.vec_env import VecMonitor

        env = VecMonitor(env, info_keywords=("avg_jct_s",))
    return env
