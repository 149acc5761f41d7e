"""One simulated cluster as a Gymnasium environment."""

from __future__ import annotations

import copy
import operator
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from allot import _allot
from allot.envs import spaces as of
from allot.envs.episode_state import EpisodeState
from allot.envs.options import BeyondWindow, OwnProcess, checked_seed, split
from allot.errors import UsageError

if TYPE_CHECKING:
    from allot import Observation

RENDER_MODES = ("rgb_array", "human")
_RECORD = ("job_id", "submit_s", "first_start_s", "finish_s", "gpu_s", "preemptions", "restarts")


def _at_end(facts: tuple) -> dict[str, Any]:
    return dict(zip(("avg_jct_s", "makespan_s", "unfinished_jobs"), facts[9:12], strict=True))


def named_records(rows: list[tuple]) -> list[dict[str, Any]]:
    """Records of jobs as the engine has them, by name."""
    return [dict(zip(_RECORD, row, strict=True)) for row in rows]


class GpuClusterEnv(gymnasium.Env):
    """A GPU cluster that an agent schedules; one step is one decision (of increments: one unit of one job).

    Options are those of the command line with _ for - (`setting="dl2:size=S"`, `workload="my.csv"`, `cluster="4x8"`,
    `load=0.9`, ...) and:

    - `action`: "index" (Box (max_jobs, 3) in [-1, 1]: an eighth of priority u, and of beta and kappa of the hull fill),
      "increments" (Discrete: slot x 3 + kind adds one unit, the last number ends the decision) or "choice"
      (MultiDiscrete: for each slot 0 for nothing, k for configuration k - 1 of its job).
    - `max_jobs`, `max_configurations`, `obs`, `max_nodes`, `configurations_in_obs`, `mask_in_obs`, `reward`,
      `reward_scale`, `placement`, `max_decisions`, `strict`.
    - `task`, `split`, `salt`: episodes of a task of the contest, in place of a world.

    `action_space.sample(info["action_mask"])` draws legal actions of every form. `env.unwrapped.observation` is what a
    policy would see, `env.unwrapped.configurations()` what the choices mean.

    Equal seeds give equal episodes; `reset(seed=s)` is the episode that `--seed s` means on the command line.
    A reset without a seed goes on to the next episode. Episodes are made lazily; errors in files are DataError.

    Steps are uneven: `info["dt"]` is the simulated seconds that the step took (0 within a decision). Discount by time
    with `gamma ** dt`.

    Pickling keeps the options, not the episode under way; `get_state` and `set_state` keep that. A deep copy is in the
    same moment of the same episode.
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
        self._beyond = BeyondWindow(self._own)
        self._begun = self._closed = False
        self._actions: list[Any] = []  # of the episode under way
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
        self._actions = []
        if self._painter is not None:
            self._painter.begin()
            self._paint(facts)
        self._beyond.check(facts[8])
        return self._observation(), self._info(facts)

    def step(self, action: Any) -> tuple[dict, float, bool, bool, dict]:
        """Acts; returns (observation, reward, terminated, truncated, info).

        UsageError for a wrong shape or type, before reset, and after the end; with `strict` for an illegal action, which
        otherwise does nothing but set `info["illegal_action"]`.
        """
        self._check_usable()
        if self._discrete:
            taken = self._number(action)
            reward, terminated, truncated, facts = self._engine.step_number(taken)
        else:
            taken = of.checked_action(action, self.action_space).copy()
            reward, terminated, truncated, facts = self._engine.step(taken)
        self._actions.append(taken)
        if self._painter is not None:
            self._paint(facts)
        self._beyond.check(facts[8])
        info = self._info(facts)
        if terminated or truncated:
            info.update(_at_end(facts))
        return self._observation(), reward, terminated, truncated, info

    def get_state(self) -> EpisodeState:
        """This moment of the episode, for `set_state` of this environment or of one of equal options, also pickled."""
        self._check_begun("get_state")
        random = self.np_random.bit_generator.state
        return EpisodeState({**self._world, **self._own}, self._engine.seed(), self._actions, random)

    def set_state(self, state: EpisodeState) -> tuple[dict, dict]:
        """Returns to a moment of an episode: what follows is, to the bit, what would have followed then.

        Returns (observation, info) of that moment. The actions up to it are played again, so that it costs as much as the
        engine's part of these steps; np_random is set, too, the generators of spaces are not. UsageError where the
        state's environment had other options.
        """
        self._check_usable()
        state.check({**self._world, **self._own})
        width = 1 if self._discrete else int(np.prod(self.action_space.shape))
        facts = self._engine.replay(state.seed, state.rows(width))
        self._begun = True
        self._actions = state.actions
        self.np_random.bit_generator.state = state.random
        if self._painter is not None:
            self._painter.begin()
            self._paint(facts)
        info = self._info(facts)
        if self._engine.over():
            info.update(_at_end(facts))
        return self._observation(), info

    def action_masks(self) -> np.ndarray:
        """Which actions are legal now: bool, of Discrete (n,), of MultiDiscrete all choices flattened, else by slot."""
        self._check_begun("action_masks")
        return self._mask.astype(bool)

    @property
    def observation(self) -> Observation:
        """What a policy would see now: named columns of jobs, tables, nodes, events as numpy views (allot.Observation).

        Row r is the job of slot r. The object ends with the next step or reset; its arrays may be kept.
        """
        self._check_usable()
        return self._engine.observation()

    def configurations(self) -> np.ndarray:
        """What choices mean: float32 (max_jobs, max_configurations, columns), row k of a slot for choice k + 1.

        `env.metadata["features"]["configurations"]` names the columns: gpus, gpu_type (-1: there is no such
        configuration), least_nodes, rate (work/s), first_units, second_units. `configurations_in_obs=True` puts the same
        into the observation.
        """
        self._check_usable()
        return self._engine.configurations()

    @property
    def job_names(self) -> list[str]:
        """Names of the episode's jobs, by the numbers that `info["job_ids"]` holds."""
        return self._engine.job_names()

    def job_records(self) -> list[dict[str, Any]]:
        """What became of each job so far: id, submit_s, first_start_s, finish_s (infinite: not yet), gpu_s, ..."""
        return named_records(self._engine.job_records())

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
        """Closes the window of mode "human"; the environment cannot be used any more."""
        self._closed = True
        if self._painter is not None:
            self._painter.close()

    def _check_usable(self) -> None:
        if self._closed:
            raise UsageError("the environment is closed")
        self._process.check()

    def _check_begun(self, what: str) -> None:
        self._check_usable()
        if not self._begun:
            raise UsageError(f"{what} before reset: call reset first")

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
            "jobs_beyond_window": facts[8],
            "job_ids": self._ids.copy(),
            "action_mask": self._mask.copy(),
        }

    def _paint(self, facts: tuple) -> None:
        used, there = self._engine.nodes_in_use()
        self._painter.add(facts[0], used, there, facts[3], facts[4])
        if self.render_mode == "human":
            self._painter.show()

    def __deepcopy__(self, memo: dict[int, Any]) -> GpuClusterEnv:
        self._process.check()
        other = type(self)(self.render_mode, **copy.deepcopy(self.options, memo))
        other.spec = self.spec
        other.action_space = copy.deepcopy(self.action_space, memo)
        other.observation_space = copy.deepcopy(self.observation_space, memo)
        other._np_random = copy.deepcopy(self._np_random, memo)
        if self._begun:
            other.set_state(self.get_state())
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {"render_mode": self.render_mode, "options": self.options, "spec": self.spec}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["render_mode"], **state["options"])
        self.spec = state["spec"]
