"""One simulated cluster as a Gymnasium environment."""

from __future__ import annotations

import operator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from allot import _allot
from allot.envs import spaces as of
from allot.envs.options import OwnProcess, checked_seed, split
from allot.errors import UsageError

RENDER_MODES = ("rgb_array", "human")


class GpuClusterEnv(gymnasium.Env):
    """A GPU cluster that an agent schedules; one step is one decision (of increments: one unit of one job).

    Options are those of the command line with _ for - (`setting="dl2:size=S"`, `workload="my.csv"`, `cluster="4x8"`,
    `load=0.9`, ...) and:

    - `action`: "index" (Box (max_jobs, 3): priority u, and beta and kappa of the hull fill), "increments" (Discrete:
      slot x 3 + kind adds one unit, the last number ends the decision) or "choice" (MultiDiscrete: for each slot 0 for
      nothing, k for configuration k - 1 of its job).
    - `max_jobs`, `max_configurations`, `reward`, `placement`, `max_decisions`, `strict`, `mask_in_obs`.

    Equal seeds give equal episodes; `reset(seed=s)` is the episode that `--seed s` means on the command line.
    A reset without a seed goes on to the next episode. Episodes are made lazily; errors in files are DataError.

    Steps are uneven: `info["dt"]` is the simulated seconds that the step took (0 within a decision). Discount by time
    with `gamma ** dt`.

    Pickling keeps the options, not the episode under way.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 8}

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:
        if render_mode not in (None, *RENDER_MODES):
            raise UsageError(f"render_mode must be one of {', '.join(RENDER_MODES)}, got '{render_mode}'")
        self.options = dict(options)
        self.render_mode = render_mode
        self._world, self._own = split(options)
        self._engine = _allot.Environment(self._world, self._own)
        spec = self._engine.spec()
        self.observation_space = of.observation_space(spec, self._own)
        self.action_space = of.action_space(spec)
        self.metadata = {**type(self).metadata, **_allot.feature_tables()}
        views = self._engine.views()
        self._observed = {name: views[name] for name in self.observation_space.spaces}
        self._ids = views["job_ids"]
        self._mask = views["action_mask"].view(np.int8)
        self._discrete = isinstance(self.action_space, spaces.Discrete)
        self._process = OwnProcess("environment")
        self._begun = self._closed = False
        self._painter = None
        if render_mode is not None:
            from allot.render import ClusterPainter

            self._painter = ClusterPainter()

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[dict, dict]:
        """Begins an episode; `options` must be empty. Returns (observation, info)."""
        self._check_usable()
        super().reset(seed=None if seed is None else checked_seed(seed))
        if options:
            raise UsageError(f"reset takes no options, got {', '.join(map(str, options))}")
        if seed is not None:
            seed = checked_seed(seed)
        elif not self._begun:
            seed = int(self.np_random.integers(2**48))
        facts = self._engine.reset(seed)
        self._begun = True
        if self._painter is not None:
            self._painter.begin()
            self._paint(facts)
        return self._observation(), self._info(facts)

    def step(self, action: Any) -> tuple[dict, float, bool, bool, dict]:
        """Acts; returns (observation, reward, terminated, truncated, info).

        UsageError for a wrong shape or type, before reset, and after the end; with `strict` for an illegal action, which
        otherwise does nothing but set `info["illegal_action"]`.
        """
        self._check_usable()
        if self._discrete:
            reward, terminated, truncated, facts = self._engine.step_number(self._number(action))
        else:
            reward, terminated, truncated, facts = self._engine.step(of.checked_action(action, self.action_space))
        if self._painter is not None:
            self._paint(facts)
        info = self._info(facts)
        if terminated or truncated:
            info["avg_jct_s"], info["makespan_s"], info["unfinished_jobs"] = facts[8:11]
        return self._observation(), reward, terminated, truncated, info

    def action_masks(self) -> np.ndarray:
        """Which actions are legal now: bool, of Discrete (n,), of MultiDiscrete all choices flattened, else by slot."""
        self._check_usable()
        if not self._begun:
            raise UsageError("action_masks before reset: call reset first")
        return self._mask.astype(bool)

    @property
    def job_names(self) -> list[str]:
        """Names of the episode's jobs, by the numbers that `info["job_ids"]` holds."""
        return self._engine.job_names()

    def job_records(self) -> list[dict[str, Any]]:
        """What became of each job so far: id, submit_s, first_start_s, finish_s (infinite: not yet), gpu_s, ..."""
        names = ("job_id", "submit_s", "first_start_s", "finish_s", "gpu_s", "preemptions", "restarts")
        return [dict(zip(names, row, strict=True)) for row in self._engine.job_records()]

    def render(self) -> np.ndarray | None:
        """The episode so far as a picture: (height, width, 3) uint8, or None in mode "human", which shows it."""
        if self._painter is None:
            raise UsageError("render needs render_mode='rgb_array' or 'human' when the environment is made")
        if self.render_mode == "human":
            self._painter.show()
            return None
        return self._painter.picture()

    def save_gif(self, path: str, frames: int = 60) -> None:
        """The episode so far as an animated picture."""
        if self._painter is None:
            raise UsageError("save_gif needs render_mode='rgb_array' when the environment is made")
        self._painter.save_gif(path, frames)

    def close(self) -> None:
        self._closed = True

    def _check_usable(self) -> None:
        if self._closed:
            raise UsageError("the environment is closed")
        self._process.check()

    def _number(self, action: Any) -> int:
        try:
            return operator.index(action)
        except TypeError:
            array = np.asarray(action)
            if array.shape == () and array.dtype.kind in "iu":
                return int(array)
            raise UsageError(
                f"an action must be one whole number below {self.action_space.n}, got {type(action).__name__} "
                f"of shape {array.shape}"
            ) from None

    def _observation(self) -> dict[str, np.ndarray]:
        return {name: view.copy() for name, view in self._observed.items()}

    def _info(self, facts: tuple) -> dict[str, Any]:
        return {
            "time_s": facts[0],
            "dt": facts[1],
            "decision": facts[2],
            "active_jobs": facts[3],
            "finished_jobs": facts[4],
            "decided": facts[5],
            "illegal_action": facts[6],
            "unplaced_jobs": facts[7],
            "job_ids": self._ids.copy(),
            "action_mask": self._mask.copy(),
        }

    def _paint(self, facts: tuple) -> None:
        used, there = self._engine.nodes_in_use()
        self._painter.add(facts[0], used, there, facts[3], facts[4])
        if self.render_mode == "human":
            self._painter.show()

    def __getstate__(self) -> dict[str, Any]:
        return {"render_mode": self.render_mode, "options": self.options, "spec": self.spec}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["render_mode"], **state["options"])
        self.spec = state["spec"]
