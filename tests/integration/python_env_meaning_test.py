"""What environments say of themselves: observations, configurations, masks, windows, states, and that they end."""

import copy
import pickle
import warnings

import numpy as np
import pytest

allot = pytest.importorskip("allot", reason="the Python package is not built (ALLOT_WITH_PYTHON)")
gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env, data_equivalence  # noqa: E402
from gymnasium.vector import SyncVectorEnv  # noqa: E402

SMALL = {"setting": "dl2:size=S", "max_jobs": 12, "max_configurations": 6}
TWO_TYPES = {"setting": "gavel", "max_jobs": 16}
ACTIONS = ["index", "increments", "choice"]
CONFIGURATION = ("gpus", "gpu_type", "least_nodes", "rate", "first_units", "second_units")


def sampled(env, info):
    return env.action_space.sample(info["action_mask"])


class TestMeaning:
    def test_a_choice_can_be_told_in_words(self):
        """Choice k of a slot is row k - 1 of its configurations: that many GPUs of that type are what the job then has."""
        env = allot.GpuClusterEnv(action="choice", **TWO_TYPES)
        env.action_space.seed(1)
        _, info = env.reset(seed=2)
        told = 0
        for _ in range(20):
            action, configurations = sampled(env, info), env.configurations()
            slots = info["job_ids"]
            *_, info = env.step(action)
            observation = env.observation
            rows = {job: row for row, job in enumerate(observation.job.tolist())}
            for slot, choice in enumerate(action):
                row = rows.get(slots[slot])
                if choice == 0 or row is None or observation.running[row] < 0:
                    continue
                gpus, gpu_type = configurations[slot, choice - 1, :2].astype(int)
                begin, end = observation.share_begin[row : row + 2]
                held = sum(int(mask).bit_count() for mask in observation.share_gpus[begin:end])
                types = {observation.node_type[node] for node in observation.share_node[begin:end]}
                assert (held, types) == (gpus, {gpu_type}), f"slot {slot}, choice {choice}"
                assert observation.gpu_types[gpu_type] in ("v100", "p100", "k80")
                told += 1
        assert told > 20

    def test_configurations_are_the_tables_of_the_observation(self):
        env = allot.GpuClusterEnv(action="choice", max_jobs=8, max_configurations=10, setting="gavel")
        env.reset(seed=1)
        assert tuple(each["name"] for each in env.metadata["features"]["configurations"]) == CONFIGURATION
        configurations = env.configurations()
        assert configurations.shape == (8, 10, len(CONFIGURATION))
        for row in range(min(8, len(env.observation))):
            table = env.observation.table(row)
            size = min(10, len(table.gpus))
            for place, name in enumerate(CONFIGURATION):
                np.testing.assert_array_equal(configurations[row, :size, place], getattr(table, name)[:size].astype(np.float32))
            assert (configurations[row, size:, 1] == -1).all()
        assert (configurations[len(env.observation) :, :, 1] == -1).all()

    def test_the_observation_is_that_of_policies_and_ends_with_the_step(self):
        seen = {}

        def policy(observation):
            seen.setdefault(observation.decision, (observation.columns(), observation.free_gpus))
            return observation.requested

        allot.simulate(policy, setting="dl2:size=S", seed=3, bar=False)
        env = allot.GpuClusterEnv(action="choice", **SMALL)
        env.reset(seed=3)
        first = env.observation
        assert first is env.observation and first.decision == 0
        for name, column in seen[0][0].items():
            np.testing.assert_array_equal(getattr(first, name), column, err_msg=name)
        np.testing.assert_array_equal(first.free_gpus, seen[0][1])
        kept, before = first.submit, first.submit.copy()
        env.step(np.zeros(12, np.int64))
        with pytest.raises(allot.UsageError, match="until its next step"):
            first.submit
        np.testing.assert_array_equal(kept, before)
        assert env.observation.decision == 1
        del env
        np.testing.assert_array_equal(kept, before)

    def test_an_observation_before_reset_is_an_error(self):
        env = allot.GpuClusterEnv(**SMALL)
        for ask in (lambda: env.observation, env.configurations, env.get_state):
            with pytest.raises(allot.UsageError, match="reset"):
                ask()

    @pytest.mark.parametrize("more", [{"configurations_in_obs": True}, {"obs": "graph"}, {"obs": "graph", "max_nodes": 20}])
    def test_the_pool_observes_the_same(self, more):
        options = {**SMALL, "action": "choice", "mask_in_obs": True, "max_decisions": 15, **more}
        pool = allot.GpuClusterVectorEnv(3, threads=2, **options)
        alone = SyncVectorEnv([lambda: allot.GpuClusterEnv(**options)] * 3)
        assert pool.single_observation_space == alone.single_observation_space
        pool.action_space.seed(0)
        result, expected = pool.reset(seed=5), alone.reset(seed=5)
        for _ in range(40):
            assert data_equivalence(result[0], expected[0])
            action = pool.action_space.sample(result[-1]["action_mask"])
            result, expected = pool.step(action), alone.step(action)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(gymnasium.make("allot/GpuCluster-v0", **options).unwrapped)

    def test_configurations_in_an_observation(self):
        env = allot.GpuClusterEnv(action="choice", configurations_in_obs=True, **SMALL)
        observation, _ = env.reset(seed=1)
        np.testing.assert_array_equal(observation["configurations"], env.configurations())
        pool = allot.GpuClusterVectorEnv(2, action="choice", configurations_in_obs=True, **SMALL)
        observation, _ = pool.reset(seed=1)
        np.testing.assert_array_equal(observation["configurations"], np.stack(pool.call("configurations")))

    def test_a_graph_has_the_edges_of_the_observation(self):
        env = allot.GpuClusterEnv(action="choice", obs="graph", **SMALL)
        env.action_space.seed(0)
        observation, info = env.reset(seed=1)
        edges = 0
        for _ in range(10):
            observation, *_, info = env.step(sampled(env, info))
            seen = env.observation
            np.testing.assert_array_equal(observation["nodes"][:, 0], seen.node_gpus)
            np.testing.assert_array_equal(observation["nodes"][:, 1], seen.free_gpus)
            expected = np.zeros((12, len(seen.node_gpus)), np.float32)
            for row in range(len(seen)):
                for share in range(seen.share_begin[row], seen.share_begin[row + 1]):
                    expected[row, seen.share_node[share]] = int(seen.share_gpus[share]).bit_count()
            np.testing.assert_array_equal(observation["edges"], expected)
            edges += np.count_nonzero(expected)
        assert edges

    def test_a_graph_that_is_too_small_is_an_error(self):
        env = allot.GpuClusterEnv(obs="graph", max_nodes=1, **SMALL)
        with pytest.raises(allot.UsageError, match="max_nodes=1 cannot show the"):
            env.reset(seed=1)
        with pytest.raises(allot.UsageError, match="obs must be 'jobs' or 'graph', got 'tree'"):
            allot.GpuClusterEnv(obs="tree", **SMALL)


class TestMasks:
    @pytest.mark.parametrize("action", ACTIONS)
    def test_sampled_actions_are_legal(self, action):
        env = allot.GpuClusterEnv(action=action, strict=True, **SMALL)
        env.action_space.seed(0)
        _, info = env.reset(seed=1)
        for _ in range(60):
            chosen = sampled(env, info)
            assert env.action_space.contains(chosen)
            _, _, terminated, truncated, info = env.step(chosen)  # strict: an illegal one raises
            if terminated or truncated:
                break

    @pytest.mark.parametrize("action", ACTIONS)
    def test_sampled_actions_of_pools_are_legal(self, action):
        pool = gymnasium.make_vec("allot/GpuCluster-v0", num_envs=3, action=action, strict=True, **SMALL)
        pool.action_space.seed(0)
        _, info = pool.reset(seed=1)
        for _ in range(30):
            chosen = pool.action_space.sample(info["action_mask"])
            assert pool.action_space.contains(chosen)
            *_, info = pool.step(chosen)

    def test_masks_of_choices_have_three_forms(self):
        env = allot.GpuClusterEnv(action="choice", **SMALL)
        _, info = env.reset(seed=1)
        by_slot = info["action_mask"].reshape(12, 7)
        drawn = []
        for mask in (info["action_mask"], env.action_masks(), by_slot, tuple(by_slot)):
            env.action_space.seed(4)
            drawn.append(env.action_space.sample(mask))
        assert all((each == drawn[0]).all() for each in drawn)
        with pytest.raises(allot.UsageError, match="84 elements"):
            env.action_space.sample(info["action_mask"][:-1])

    def test_sampling_draws_every_legal_choice(self):
        env = allot.GpuClusterEnv(action="choice", **SMALL)
        _, info = env.reset(seed=1)
        by_slot = info["action_mask"].reshape(12, 7)
        drawn = np.array([env.action_space.sample(info["action_mask"]) for _ in range(400)])
        for slot in range(12):
            assert set(drawn[:, slot]) == set(np.flatnonzero(by_slot[slot]))

    def test_a_mask_of_scores_is_never_empty(self):
        env = allot.GpuClusterEnv(action="index", **SMALL)
        env.reset(seed=1)
        terminated = False
        while not terminated:
            *_, terminated, _, info = env.step(np.zeros((12, 3), np.float32))
        assert info["active_jobs"] == 0 and info["action_mask"].tolist() == [1] + [0] * 11

    @pytest.mark.parametrize("action", ACTIONS)
    def test_torchrl(self, action):
        pytest.importorskip("torchrl")
        import allot.torchrl
        from torchrl.envs.utils import check_env_specs

        env = allot.torchrl.make(setting="dl2:size=S", max_jobs=10, action=action)
        check_env_specs(env)
        rollout = env.rollout(10)
        if action == "choice":
            assert rollout["action_mask"].shape[1:] == (10, 65)
            assert rollout["action_mask"].gather(-1, rollout["action"].unsqueeze(-1)).all()


class TestWindow:
    def test_jobs_beyond_it_are_counted_and_warned_of_once(self):
        env = allot.GpuClusterEnv(setting="dl2:size=S", max_jobs=2, action="choice")
        with pytest.warns(RuntimeWarning, match="beyond max_jobs=2: they are not observed and get nothing") as said:
            _, info = env.reset(seed=1)
            for _ in range(15):
                *_, info = env.step(np.zeros(2, np.int64))
                assert info["jobs_beyond_window"] == max(0, info["active_jobs"] - 2)
        assert len(said) == 1 and info["jobs_beyond_window"] > 0
        with pytest.warns(RuntimeWarning, match="are served last"):
            pool = allot.GpuClusterVectorEnv(2, setting="dl2:size=S", max_jobs=2, action="index")
            pool.reset(seed=1)
            for _ in range(15):
                *_, info = pool.step(np.zeros((2, 2, 3), np.float32))
        assert info["jobs_beyond_window"].dtype == np.int64


class TestEnds:
    def test_bounds_of_scores_are_those_of_squashing_algorithms(self):
        space = allot.GpuClusterEnv(action="index", **SMALL).action_space
        assert (space.low == -1).all() and (space.high == 1).all()

    @pytest.mark.parametrize("action", ["increments", "choice"])
    def test_a_policy_that_serves_nobody_is_truncated_soon(self, action):
        env = allot.GpuClusterEnv(action=action, setting="dl2:size=S", max_jobs=10)
        env.reset(seed=1)
        nothing = env.action_space.n - 1 if action == "increments" else np.zeros(10, np.int64)
        for step in range(1, 2000):
            *_, terminated, truncated, info = env.step(nothing)
            if truncated:
                break
        assert truncated and not terminated and info["unfinished_jobs"] > 0

    def test_the_limit_is_no_limit_for_those_who_serve(self):
        env = allot.GpuClusterEnv(action="index", setting="dl2:size=S", max_jobs=10)
        for seed in range(5):
            env.reset(seed=seed)
            terminated = truncated = False
            while not (terminated or truncated):
                *_, terminated, truncated, _ = env.step(np.zeros((10, 3), np.float32))
            assert terminated

    @pytest.mark.parametrize("value", ["never", 1.5, True, None, 0])
    def test_limits_that_are_none(self, value):
        with pytest.raises(allot.UsageError, match="max_decisions must be"):
            allot.GpuClusterEnv(max_decisions=value, **SMALL)

    def test_rewards_can_be_scaled(self):
        def total(**more):
            env = allot.GpuClusterEnv(action="index", setting="dl2:size=S", max_jobs=10, **more)
            env.reset(seed=1)
            gained, terminated = 0.0, False
            while not terminated:
                _, reward, terminated, *_ = env.step(np.zeros((10, 3), np.float32))
                gained += reward
            return gained, env

        jct, env = total(reward="jct")
        assert jct == pytest.approx(-sum(each["finish_s"] - each["submit_s"] for each in env.job_records()))
        assert total(reward="jct", reward_scale=0.5)[0] == pytest.approx(jct / 2)
        unit = env.observation.interval * env.observation.total_gpus
        assert total()[0] == pytest.approx(jct / unit), "the default is 'jobs'"
        for value in ("much", True, float("inf")):
            with pytest.raises(allot.UsageError, match="reward_scale must be"):
                allot.GpuClusterEnv(reward_scale=value, **SMALL)

    def test_the_window_of_human_closes(self):
        matplotlib = pytest.importorskip("matplotlib")
        pytest.importorskip("PIL")
        matplotlib.use("Agg")
        from matplotlib import pyplot

        before = pyplot.get_fignums()
        for _ in range(3):
            env = allot.GpuClusterEnv(render_mode="human", **SMALL)
            env.reset(seed=1)
            env.step(np.zeros((12, 3), np.float32))
            assert len(pyplot.get_fignums()) == len(before) + 1
            env.close()
        assert pyplot.get_fignums() == before


def played(env, info, steps):
    """What follows by legal actions drawn from the environment's own generator: everything that step returns."""
    seen = []
    for _ in range(steps):
        mask = info["action_mask"]
        if isinstance(env.action_space, gymnasium.spaces.Box):
            action = env.np_random.uniform(-1, 1, env.action_space.shape).astype(np.float32)
        elif isinstance(env.action_space, gymnasium.spaces.Discrete):
            action = int(env.np_random.choice(np.flatnonzero(mask)))
        else:
            action = np.array([env.np_random.choice(np.flatnonzero(row)) for row in mask.reshape(12, -1)])
        seen.append(env.step(action))
        info = seen[-1][-1]
        if seen[-1][2] or seen[-1][3]:
            observation, info = env.reset()
            seen.append((observation, 0.0, False, False, info))
    return seen


def same(ours, theirs):
    assert len(ours) == len(theirs)
    for step, (one, other) in enumerate(zip(ours, theirs)):
        assert one[1:4] == other[1:4], f"step {step}: reward or end"
        assert data_equivalence(one[0], other[0]), f"step {step}: observation"
        assert data_equivalence(one[4], other[4]), f"step {step}: info"


class TestState:
    """What follows a state is what followed it before, here, elsewhere, and after pickle."""

    def env(self, action, **more):
        return allot.GpuClusterEnv(action=action, max_decisions=30, **{**SMALL, **more})

    @pytest.mark.parametrize("action", ACTIONS)
    def test_a_state_is_returned_to(self, action):
        env = self.env(action)
        _, info = env.reset(seed=3)
        info = played(env, info, 17)[-1][-1]
        state = env.get_state()
        followed = played(env, info, 50)  # past the end of the episode
        other = self.env(action)
        for each, moment in ((env, state), (env, pickle.loads(pickle.dumps(state))), (other, state)):
            observation, now = each.set_state(moment)
            assert data_equivalence(now, info)
            same(played(each, now, 50), followed)

    def test_states_branch(self):
        """A planner: several ways from one state, and states along them."""
        env = self.env("increments")
        _, info = env.reset(seed=1)
        played(env, info, 5)
        root = env.get_state()
        branches = []
        for way in range(3):
            _, info = env.set_state(root)
            legal = np.flatnonzero(info["action_mask"])
            branches.append((env.step(int(legal[way % len(legal)])), env.get_state()))
        for result, state in branches:
            observation, info = env.set_state(state)
            assert data_equivalence(observation, result[0]) and data_equivalence(info, result[4])
        assert root.steps == 5 and [state.steps for _, state in branches] == [6, 6, 6]

    def test_a_deep_copy_is_in_the_same_moment(self):
        env = self.env("choice")
        _, info = env.reset(seed=4)
        info = played(env, info, 6)[-1][-1]
        twin = copy.deepcopy(env)
        same(played(twin, info, 20), played(env, info, 20))

    def test_worlds_with_beliefs_and_types(self):
        env = allot.GpuClusterEnv(action="index", setting="sia", max_jobs=12)
        _, info = env.reset(seed=2)
        info = played(env, info, 12)[-1][-1]
        state = env.get_state()
        followed = played(env, info, 15)
        same(played(env, env.set_state(state)[1], 15), followed)

    def test_a_state_of_other_options_is_refused(self):
        env = self.env("choice")
        env.reset(seed=1)
        with pytest.raises(allot.UsageError, match="max_jobs=12, this one has 11"):
            self.env("choice", max_jobs=11).set_state(env.get_state())


class TestPool:
    def test_it_tells_of_each_environment(self):
        pool = allot.GpuClusterVectorEnv(2, threads=1, autoreset_mode="DISABLED", **SMALL)
        with pytest.raises(allot.UsageError, match="reset"):
            pool.call("job_records")
        pool.reset(seed=5)
        for _ in range(4):
            pool.step(np.zeros((2, 12, 3), np.float32))
        for i in range(2):
            env = allot.GpuClusterEnv(**SMALL)
            env.reset(seed=5 + i)
            for _ in range(4):
                env.step(np.zeros((12, 3), np.float32))
            assert pool.call("job_records")[i] == env.job_records()
            assert pool.get_attr("job_names")[i] == env.job_names
        assert pool.get_attr("action_space") == (pool.single_action_space,) * 2
        with pytest.raises(allot.UsageError, match="answer job_names, job_records, configurations, action_masks, got 'step'"):
            pool.call("step")

    def test_stable_baselines_is_told_as_much(self):
        pytest.importorskip("stable_baselines3")
        import allot.sb3

        env = allot.sb3.make_vec_env(2, threads=1, action="choice", max_decisions=3, **SMALL)
        env.reset()
        illegal = np.full((2, 12), 6)
        for _ in range(3):
            *_, done, infos = env.step(illegal)
        assert done.all()
        for info in infos:
            assert info["unfinished_jobs"] > 0 and info["illegal_action"] in (True, 1) and info["active_jobs"] > 0
        assert len(env.env_method("job_records")) == 2 and env.env_method("job_records", indices=[0])[0][0]["job_id"]
        assert len(env.get_attr("job_names")[0]) > 0
