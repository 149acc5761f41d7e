"""The Gymnasium environments of the Python package: conformance, equality with the pool, and bad input."""

import copy
import csv
import json
import multiprocessing
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

allot = pytest.importorskip("allot", reason="the Python package is not built (ALLOT_WITH_PYTHON)")
gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env, data_equivalence  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

SMALL = {"setting": "dl2:size=S", "max_jobs": 12, "max_configurations": 6}
ACTIONS = ["index", "increments", "choice"]


def legal_action(env, info, rng):
    """A random legal action of one environment."""
    space = env.action_space
    mask = info["action_mask"]
    if isinstance(space, gymnasium.spaces.Box):
        return rng.normal(size=space.shape).astype(np.float32)
    if isinstance(space, gymnasium.spaces.Discrete):
        return int(rng.choice(np.flatnonzero(mask)))
    rows = mask.reshape(len(space.nvec), -1)
    return np.array([rng.choice(np.flatnonzero(row)) for row in rows])


@pytest.mark.parametrize("id_", sorted(allot.envs.ids()))
def test_every_id_can_be_made_and_stepped(id_):
    env = gymnasium.make(id_, action="choice", max_jobs=8, max_configurations=4)
    _, info = env.reset(seed=3)
    observation, reward, *_ = env.step(legal_action(env, info, np.random.default_rng(0)))
    assert env.observation_space.contains(observation)
    assert np.isfinite(reward)
    json.loads(env.spec.to_json())


@pytest.mark.parametrize("mask_in_obs", [False, True])
@pytest.mark.parametrize("action", ACTIONS)
def test_gymnasium_checks_without_a_warning(action, mask_in_obs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("allot/GpuCluster-v0", action=action, mask_in_obs=mask_in_obs, **SMALL)
        check_env(env.unwrapped)


@pytest.mark.parametrize("action", ACTIONS)
def test_masks_are_one(action):
    env = allot.GpuClusterEnv(action=action, mask_in_obs=True, **SMALL)
    observation, info = env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(20):
        np.testing.assert_array_equal(info["action_mask"], env.action_masks())
        np.testing.assert_array_equal(observation["action_mask"], info["action_mask"])
        observation, _, terminated, truncated, info = env.step(legal_action(env, info, rng))
        assert not info["illegal_action"]
        if terminated or truncated:
            break


def test_feature_names_are_those_of_the_columns():
    env = allot.GpuClusterEnv(**SMALL)
    assert len(env.metadata["features"]["jobs"]) == env.observation_space["jobs"].shape[1]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("action", ACTIONS)
def test_the_pool_equals_environments_stepped_alone(action, mode, threads):
    options = {**SMALL, "action": action, "max_decisions": 25}
    count = 3
    pool = gymnasium.make_vec("allot/GpuCluster-v0", num_envs=count, autoreset_mode=mode, threads=threads, **options)
    alone = SyncVectorEnv([lambda: allot.GpuClusterEnv(**options)] * count, autoreset_mode=mode)
    assert pool.single_action_space == alone.single_action_space
    assert pool.single_observation_space == alone.single_observation_space
    seeds = [7, 3, 11]
    rng = np.random.default_rng(5)
    result, expected = pool.reset(seed=seeds), alone.reset(seed=seeds)
    assert data_equivalence(result[0], expected[0]), "reset: observations"
    same_infos(result[1], expected[1], "reset")
    ended = 0
    for step in range(200 if action != "increments" else 400):
        info = result[-1]
        actions = [legal_action(env, {"action_mask": info["action_mask"][i]}, rng) for i, env in enumerate(alone.envs)]
        actions = np.array(actions)
        result, expected = pool.step(actions), alone.step(actions)
        for name, ours, theirs in zip(("observation", "reward", "terminated", "truncated"), result, expected):
            assert data_equivalence(ours, theirs), f"step {step}: {name}"
        same_infos(result[-1], expected[-1], f"step {step}")
        over = result[2] | result[3]
        ended += over.sum()
        if mode == AutoresetMode.DISABLED and over.any():
            with pytest.raises(allot.UsageError, match="reset it with a mask"):
                pool.step(actions)
            result = pool.reset(options={"reset_mask": over.copy()})
            expected = alone.reset(options={"reset_mask": over.copy()})
            assert data_equivalence(result[0], expected[0]), f"step {step}: reset by mask"
            same_infos(result[1], expected[1], f"step {step}: reset by mask")
            whole = pool.reset(seed=seeds)
            alone.reset(seed=seeds)
            result = whole
    assert ended, "no episode ended: autoreset was not tested"


def same_infos(ours, theirs, where):
    assert set(ours) == set(theirs), where
    for key, value in theirs.items():
        if isinstance(value, dict):
            same_infos(ours[key], value, f"{where}: {key}")
        elif key == "final_obs":
            for a, b in zip(ours[key], value):
                assert (a is None) == (b is None) and (a is None or data_equivalence(a, b)), f"{where}: {key}"
        else:
            np.testing.assert_array_equal(ours[key], value, err_msg=f"{where}: {key}")
            assert ours[key].dtype == value.dtype, f"{where}: type of {key}"


def test_received_environments_show_what_step_shows():
    options = {**SMALL, "action": "index"}
    pool = allot.GpuClusterVectorEnv(4, threads=2, **options)
    twin = allot.GpuClusterVectorEnv(4, threads=1, **options)
    pool.reset(seed=1)
    twin.reset(seed=1)
    actions = np.random.default_rng(0).normal(size=pool.action_space.shape).astype(np.float32)
    expected, *_ = twin.step(actions)
    pool.send(actions, [0, 1, 2, 3])
    with pytest.raises(allot.UsageError, match="in flight"):
        pool.step(actions)
    seen = []
    while len(seen) < 4:
        observation, reward, terminated, truncated, info, ids = pool.recv(2)
        for row, i in enumerate(ids):
            np.testing.assert_array_equal(observation["jobs"][row], expected["jobs"][i])
            seen.append(int(i))
    assert sorted(seen) == [0, 1, 2, 3]
    with pytest.raises(allot.UsageError, match="0 are in flight"):
        pool.recv(1)


def test_seeds_are_those_of_the_command_line(tmp_path):
    env = allot.GpuClusterEnv(setting="dl2:size=S", action="index", max_jobs=32)
    env.reset(seed=5)
    command = ["simulate", "--setting", "dl2:size=S", "--seed", "5", "--policy", "fifo", "--out", tmp_path / "run"]
    subprocess.run([sys.executable, "-m", "allot", *map(str, command)], check=True, capture_output=True)
    with open(tmp_path / "run" / "jobs.csv") as file:
        rows = list(csv.DictReader(file))
    assert [record["job_id"] for record in env.job_records()] == [row["job_id"] for row in rows]
    assert [record["submit_s"] for record in env.job_records()] == [float(row["submit_s"]) for row in rows]


def test_times_of_steps_add_up():
    env = allot.GpuClusterEnv(**SMALL)
    _, info = env.reset(seed=2)
    total, last = info["dt"], {}
    terminated = False
    while not terminated:
        _, _, terminated, _, last = env.step(np.zeros(env.action_space.shape, np.float32))
        total += last["dt"]
    assert total == pytest.approx(last["time_s"])
    assert 0 < last["makespan_s"] <= total
    jcts = [record["finish_s"] - record["submit_s"] for record in env.job_records()]
    assert last["avg_jct_s"] == pytest.approx(np.mean(jcts))


class TestBadInput:
    def env(self, **more):
        return allot.GpuClusterEnv(**{**SMALL, **more})

    def test_unknown_option(self):
        with pytest.raises(allot.UsageError, match="unknown option 'setings' .did you mean 'setting'"):
            self.env(setings="x")

    def test_unknown_setting(self):
        with pytest.raises(allot.UsageError, match="did you mean 'dl2'"):
            allot.GpuClusterEnv(setting="dl3")

    def test_value_of_a_wrong_type(self):
        with pytest.raises(allot.UsageError, match="'cluster' must be a text"):
            allot.GpuClusterEnv(cluster={"nodes": 4})

    def test_missing_trace(self):
        with pytest.raises(allot.Error, match="missing.csv"):
            allot.GpuClusterEnv(workload="missing.csv")

    def test_step_before_reset(self):
        env = self.env()
        with pytest.raises(allot.UsageError, match="before reset"):
            env.step(np.zeros(env.action_space.shape, np.float32))

    def test_step_after_the_end(self):
        env = self.env(max_decisions=1)
        env.reset(seed=1)
        action = np.zeros(env.action_space.shape, np.float32)
        env.step(action)
        with pytest.raises(allot.UsageError, match="after the end"):
            env.step(action)

    def test_use_after_close(self):
        env = self.env()
        env.close()
        env.close()
        with pytest.raises(allot.UsageError, match="closed"):
            env.reset()
        pool = allot.GpuClusterVectorEnv(2, **SMALL)
        pool.close()
        with pytest.raises(allot.UsageError, match="closed"):
            pool.reset()

    @pytest.mark.parametrize("action", ACTIONS)
    def test_wrong_shape(self, action):
        env = self.env(action=action)
        env.reset(seed=1)
        with pytest.raises(allot.UsageError, match="shape"):
            env.step(np.zeros((2, 2, 2), np.float32 if action == "index" else np.int64))
        pool = allot.GpuClusterVectorEnv(2, **{**SMALL, "action": action})
        pool.reset(seed=1)
        with pytest.raises(allot.UsageError, match="shape"):
            pool.step(np.zeros((3, 1), np.float32 if action == "index" else np.int64))

    @pytest.mark.parametrize("action", ACTIONS)
    def test_wrong_type(self, action):
        env = self.env(action=action)
        env.reset(seed=1)
        with pytest.raises(allot.UsageError, match="floats|whole number"):
            env.step(np.zeros(env.action_space.shape, np.int64 if action == "index" else np.float32))
        with pytest.raises(allot.UsageError):
            env.step("nonsense")

    def test_illegal_actions_do_nothing_or_are_errors(self):
        env = self.env(action="increments")
        _, info = env.reset(seed=1)
        illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
        _, reward, terminated, _, info = env.step(illegal)
        assert (reward, terminated, info["illegal_action"], info["decided"]) == (0, False, True, False)
        strict = self.env(action="increments", strict=True)
        strict.reset(seed=1)
        with pytest.raises(allot.UsageError, match="illegal action"):
            strict.step(illegal)

    def test_numbers_that_are_none(self):
        action = np.full((12, 3), np.nan, np.float32)
        env = self.env()
        env.reset(seed=1)
        assert env.step(action)[-1]["illegal_action"]
        strict = self.env(strict=True)
        strict.reset(seed=1)
        with pytest.raises(allot.UsageError, match="NaN"):
            strict.step(action)

    def test_a_fork_is_told_to_make_its_own(self):
        env = self.env()
        env.reset(seed=1)
        context = multiprocessing.get_context("fork")
        queue = context.Queue()

        def child():
            try:
                env.reset(seed=1)
                queue.put("no error")
            except allot.RunError as error:
                queue.put(str(error))

        process = context.Process(target=child)
        process.start()
        assert "a fork of it" in queue.get(timeout=300)
        process.join()

    def test_reset_mask(self):
        pool = allot.GpuClusterVectorEnv(2, autoreset_mode="Disabled", **SMALL)
        pool.reset(seed=1)
        with pytest.raises(TypeError, match="bool"):
            pool.reset(options={"reset_mask": np.ones(2)})
        with pytest.raises(ValueError, match="at least one True"):
            pool.reset(options={"reset_mask": np.zeros(2, bool)})
        with pytest.raises(allot.UsageError, match="no option but reset_mask"):
            pool.reset(options={"mask": 1})


    def test_two_threads_are_told(self):
        env = allot.GpuClusterEnv(workload="embedded", cluster="16x8", load=1.0, action="choice")
        env.reset(seed=1)
        said = []

        def step():
            for _ in range(50):
                try:
                    env.step(np.zeros(env.action_space.shape, np.int64))
                except allot.UsageError as error:
                    said.append(str(error))

        threads = [threading.Thread(target=step) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all("another thread" in message for message in said), said

    def test_an_agent_that_only_asks_for_what_is_illegal_is_stopped(self):
        env = self.env(action="increments", max_decisions=4000)
        env.reset(seed=1)
        for step in range(2000):
            *_, terminated, truncated, info = env.step(0 if env.action_masks()[0] == 0 else 36)
            if not env.action_masks()[1]:
                break
        for step in range(1, 1100):
            *_, terminated, truncated, info = env.step(10**6)
            if truncated:
                break
        assert truncated and step == 1000 and info["unfinished_jobs"] > 0

    @pytest.mark.parametrize("option", [{"max_jobs": 1.5}, {"max_jobs": True}, {"max_decisions": None}, {"strict": "yes"},
                                        {"mask_in_obs": "false"}, {"action": 3}, {"reward": None}, {"setting": 5}])
    def test_values_of_a_wrong_type_are_named(self, option):
        with pytest.raises(allot.UsageError, match=next(iter(option))):
            self.env(**option)

    @pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "7"])
    def test_seeds_that_are_none(self, seed):
        with pytest.raises(allot.UsageError, match="seed"):
            self.env().reset(seed=seed)
        with pytest.raises(allot.UsageError, match="seed"):
            allot.GpuClusterVectorEnv(2, **SMALL).reset(seed=[0, seed])

    def test_masks_before_reset(self):
        with pytest.raises(allot.UsageError, match="before reset"):
            self.env().action_masks()

    def test_modes_have_their_names(self):
        assert allot.GpuClusterVectorEnv(1, autoreset_mode="SAME_STEP", **SMALL).autoreset_mode == AutoresetMode.SAME_STEP
        with pytest.raises(allot.UsageError, match="NEXT_STEP, SAME_STEP, DISABLED"):
            allot.GpuClusterVectorEnv(1, autoreset_mode="never", **SMALL)


def test_truncated_episodes_count_jobs_that_wait():
    env = allot.GpuClusterEnv(**{**SMALL, "max_decisions": 3, "action": "choice"})
    env.reset(seed=1)
    truncated = False
    while not truncated:
        *_, truncated, info = env.step(np.zeros(env.action_space.shape, np.int64))
    assert info["unfinished_jobs"] > 0
    assert info["avg_jct_s"] > 0 and info["makespan_s"] == info["time_s"]


IN_FLIGHT = """
import time, allot, numpy as np
allot.register_reward("slow", lambda step, observation: time.sleep(0.01) or 0.0)
pool = allot.GpuClusterVectorEnv(4, threads=2, reward="slow", setting="dl2:size=S", max_jobs=12)
pool.reset(seed=1)
pool.send(np.zeros(pool.action_space.shape, np.float32), range(4))
{end}
"""


@pytest.mark.parametrize("end", ["del pool", "pool.close()", "pass"])
def test_a_pool_may_end_while_it_is_in_flight(end):
    code = IN_FLIGHT.format(end=end)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_observations_that_are_kept_do_not_change():
    pool = allot.GpuClusterVectorEnv(3, threads=1, **SMALL)
    observation, _ = pool.reset(seed=1)
    kept, copies = [], []
    for step in range(12):
        kept.append(observation if step % 2 else observation["jobs"][1:])  # whole ones, and views of their arrays
        copies.append(copy.deepcopy(kept[-1]))
        observation, *_ = pool.step(np.full(pool.action_space.shape, step, np.float32))
    for ours, before in zip(kept, copies):
        assert data_equivalence(ours, before)


def test_received_ends_of_episodes_are_told():
    pool = allot.GpuClusterVectorEnv(2, threads=1, **{**SMALL, "max_decisions": 2})
    pool.reset(seed=1)
    actions = np.zeros(pool.action_space.shape, np.float32)
    for _ in range(2):
        pool.send(actions, [0, 1])
        *_, truncated, info, _ = pool.recv(2)
    assert truncated.all() and (info["avg_jct_s"] > 0).all()


def test_pickled_environments_work_in_another_process():
    env = pickle.loads(pickle.dumps(allot.GpuClusterEnv(**SMALL)))
    assert env.reset(seed=1)[1]["active_jobs"] > 0
    with multiprocessing.get_context("spawn").Pool(1) as workers:
        assert workers.apply(first_jobs, (env,)) == env.reset(seed=4)[1]["active_jobs"]


def first_jobs(env):
    return env.reset(seed=4)[1]["active_jobs"]


def test_pictures(tmp_path):
    pytest.importorskip("PIL")
    from PIL import Image

    env = allot.GpuClusterEnv(render_mode="rgb_array", **SMALL)
    env.reset(seed=1)
    first = env.render()
    for _ in range(5):
        env.step(np.zeros(env.action_space.shape, np.float32))
    picture = env.render()
    assert picture.shape == first.shape and picture.dtype == np.uint8
    assert (picture != first).any()
    env.save_gif(tmp_path / "episode.gif", frames=4)
    assert Image.open(tmp_path / "episode.gif").n_frames > 1


def test_the_module_is_the_program():
    done = subprocess.run([sys.executable, "-m", "allot", "list", "rewards"], capture_output=True, text=True)
    assert done.returncode == 0 and "jct" in done.stdout, done.stderr
    done = subprocess.run([sys.executable, "-m", "allot", "simulat"], capture_output=True, text=True)
    assert done.returncode == 2 and "did you mean" in done.stderr


def test_importing_needs_no_torch():
    code = "import sys, allot; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_stable_baselines():
    pytest.importorskip("sb3_contrib")
    import allot.sb3
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_checker import check_env as check_sb3

    env = allot.sb3.make_vec_env(num_envs=4, threads=1, action="increments", **SMALL)
    model = MaskablePPO("MultiInputPolicy", env, n_steps=32, batch_size=32, seed=0, verbose=0)
    model.learn(256)
    observation = env.reset()
    masks = np.stack(env.env_method("action_masks"))
    actions, _ = model.predict(observation, action_masks=masks)
    assert masks[np.arange(4), actions].all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_sb3(allot.GpuClusterEnv(action="increments", **SMALL))


def test_torchrl():
    pytest.importorskip("torchrl")
    import allot.torchrl
    from torchrl.envs.utils import check_env_specs

    env = allot.torchrl.make(**SMALL)
    check_env_specs(env)
    rollout = env.rollout(30)
    assert "action_mask" in rollout.keys()
    taken = rollout["action_mask"].gather(-1, rollout["action"].unsqueeze(-1))
    assert taken.all()


class TestMemoryOfObservations:
    """A pool writes observations where nobody looks any more; those that somebody keeps do not change."""

    @staticmethod
    def steps(pool, keep):
        pool.action_space.seed(0)
        pool.reset(seed=3)
        kept = []
        for _ in range(12):
            observation, *_, info = pool.step(pool.action_space.sample())
            kept.append(keep({**observation, **{name: info[name] for name in ("job_ids", "action_mask")}}))
        return kept

    @pytest.mark.parametrize("keep", [lambda o: o, lambda o: {name: part[1:] for name, part in o.items()}], ids=["all", "parts"])
    def test_kept_observations_stay(self, keep):
        pool = allot.GpuClusterVectorEnv(3, threads=1, setting="dl2:size=S", max_jobs=8)
        kept = self.steps(pool, keep)
        copied = self.steps(pool, lambda o: {name: part.copy() for name, part in keep(o).items()})
        for step, (one, other) in enumerate(zip(kept, copied)):
            for name in other:
                np.testing.assert_array_equal(one[name], other[name], err_msg=f"{name} of step {step}")

    def test_dropped_observations_lend_their_memory(self):
        pool = allot.GpuClusterVectorEnv(3, threads=1, setting="dl2:size=S", max_jobs=8)
        assert len(set(self.steps(pool, lambda o: o["jobs"].ctypes.data))) <= 2

    def test_observations_can_be_written_to(self):
        pool = allot.GpuClusterVectorEnv(3, threads=1, setting="dl2:size=S", max_jobs=8)
        for observation in self.steps(pool, lambda o: o):
            observation["jobs"] *= 0


def test_tasks_of_the_contest_are_environments_with_splits():
    made = {}
    for split in ("train", "validation", "test"):
        env = gymnasium.make("allot/Score-GavelBatch-v1", split=split, action="index")
        made[split] = env.reset(seed=3)[0]["jobs"]
    for a, b in (("train", "validation"), ("train", "test"), ("validation", "test")):
        assert not np.array_equal(made[a], made[b]), f"{a} and {b} share an episode"
    other = gymnasium.make("allot/Score-GavelBatch-v1", split="test", salt="other", action="index")
    assert not np.array_equal(other.reset(seed=3)[0]["jobs"], made["test"]), "the salt changes the test split"
    with pytest.raises(allot.UsageError, match="split must be train, validation or test"):
        gymnasium.make("allot/Score-GavelBatch-v1", split="tests")
    with pytest.raises(allot.UsageError, match="is a world of its own, got also the option 'load'"):
        gymnasium.make("allot/Score-GavelBatch-v1", load=0.5)
    with pytest.raises(allot.UsageError, match="unknown task 'Gavel-v9'"):
        allot.GpuClusterEnv(task="Gavel-v9")
