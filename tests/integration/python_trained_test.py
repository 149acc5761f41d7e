"""Trained models as policies: they see and do in experiments what they saw and did in the environment."""

import random

import gymnasium
import numpy as np
import pytest

allot = pytest.importorskip("allot")

WORLD = {"setting": "dl2:size=S"}
WINDOW = {"max_jobs": 10, "max_configurations": 300}


def legal(seen, mask, action):
    """A rule that depends on features and mask alone."""
    if action == "index":
        return np.stack([-0.3 * seen["jobs"][:, 0], 0.5 + 0 * seen["jobs"][:, 0], 0 * seen["jobs"][:, 0]], 1)
    if action == "increments":
        bundles = np.flatnonzero(mask[2:-1:3] & (seen["granted"] < 20))
        return 3 * bundles[seen["granted"][bundles].argmin()] + 2 if len(bundles) else len(mask) - 1
    choices = mask.reshape(10, -1)
    return [np.flatnonzero(row)[min(40, row.sum() - 1)] for row in choices]


@pytest.mark.parametrize("action", ["index", "increments", "choice"])
def test_a_policy_decides_as_in_the_environment(action):
    env = allot.GpuClusterEnv(action=action, **WORLD, **WINDOW)
    policy = allot.TrainedPolicy(lambda seen, mask: legal(seen, mask, action), action=action, name="mine", **WINDOW)
    for seed in (3, 4):
        seen, info = env.reset(seed=seed)
        ended = False
        while not ended:
            mask = info["action_mask"].astype(bool)
            seen, _, terminated, truncated, info = env.step(np.asarray(legal(seen, mask, action), env.action_space.dtype))
            ended = terminated or truncated
        run = allot.simulate(policy, seed=seed, **WORLD)
        assert run.summary["avg_jct_s"] == pytest.approx(info["avg_jct_s"], rel=1e-12)


def test_onnx_decides_as_the_checkpoint_and_keeps_its_lineage(root, tmp_path):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("torch")
    folder = root / "checkpoints" / "philly-elastic" / "accepted"
    checkpoint = allot.load_checkpoint(folder)
    allot.export_onnx(checkpoint, tmp_path / "net.onnx")
    onnx = allot.OnnxPolicy(tmp_path / "net.onnx", name="onnx")
    torch = allot.TorchPolicy(checkpoint.torch(), name="torch", trained_on=checkpoint.sources)
    assert onnx.lineage == torch.lineage == checkpoint.lineage
    result = allot.compare([onnx, torch, f"learned:checkpoint={folder}"], **WORLD)
    jct = [result.run(place).summary["avg_jct_s"] for place in range(3)]
    assert jct[1] == pytest.approx(jct[0], rel=0.01) and jct[2] == pytest.approx(jct[0], rel=0.01)


def test_files_that_are_no_models_are_named(tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "bad.onnx").write_text("no model")
    for path in (tmp_path / "bad.onnx", tmp_path / "none.onnx"):
        with pytest.raises(allot.DataError, match=f"{path.name}: not readable as an ONNX model"):
            allot.OnnxPolicy(path)


def test_an_onnx_model_of_other_features_is_refused(tmp_path):
    pytest.importorskip("onnxruntime")
    allot.export_onnx(allot.new_checkpoint("shared"), tmp_path / "net.onnx")
    with pytest.raises(allot.DataError, match="'shared'"):
        allot.OnnxPolicy(tmp_path / "net.onnx")


@pytest.mark.parametrize(("trained_on", "says"), [((), None), (None, None), ("before", True), ("here", False)])
def test_tables_say_whether_workloads_are_unseen(trained_on, says):
    windows = {"before": [{"workload": "embedded", "from": "2017-10-30", "to": "2017-11-06"}],
               "here": [{"workload": "embedded", "from": "2017-10-30", "to": "2017-11-13"}]}
    policy = allot.TrainedPolicy(
        lambda seen, mask: np.zeros((128, 3)), name="mine", trained_on=windows.get(trained_on, trained_on)
    )
    days = {"from": "2017-11-06", "to": "2017-11-07"}
    assert allot.evaluate(policy, [], **days).unseen is says


class FlatModel:
    """As stable-baselines3's: spaces and predict; sees one flat vector."""

    def __init__(self, env):
        self.space, self.action_space = env.observation_space, env.action_space
        self.observation_space = gymnasium.spaces.flatten_space(env.observation_space)

    def predict(self, flat, deterministic):
        assert deterministic and flat.shape == self.observation_space.shape
        seen = gymnasium.spaces.unflatten(self.space, flat)
        return legal(seen, None, "index"), None


def test_a_flat_model_of_sb3_sees_what_it_was_trained_on():
    env = allot.GpuClusterEnv(action="index", max_jobs=10, **WORLD)
    model = FlatModel(env)
    run = allot.simulate(allot.Sb3Policy(model, name="sb3"), seed=5, **WORLD)
    seen, ended = env.reset(seed=5)[0], False
    while not ended:
        actions, _ = model.predict(gymnasium.spaces.flatten(model.space, seen), deterministic=True)
        seen, _, terminated, truncated, info = env.step(actions.astype(np.float32))
        ended = terminated or truncated
    assert run.summary["avg_jct_s"] == pytest.approx(info["avg_jct_s"], rel=1e-12)


def test_a_model_that_insists_on_an_illegal_action_is_told():
    policy = allot.TrainedPolicy(lambda seen, mask: 0, action="increments", max_jobs=10, name="stuck")
    with pytest.raises(allot.RunError, match="stuck.*illegal action 0"):
        allot.simulate(policy, **WORLD)


# ---- one object a run ----

SMALL = {"cluster": "1x4", "load": 0.9, "span": "1h", "interval": 300, "workloads": 3, "seed": 5}
SPACES = {"max_jobs": 6, "max_configurations": 8}


@pytest.fixture(scope="module", autouse=True)
def short_jobs(tmp_path_factory):
    """The workload of SMALL: short jobs, more than the cluster can serve."""
    path = tmp_path_factory.mktemp("jobs") / "short.csv"
    rows = [f"j{i},{120 * i},{1 + i % 3 % 2},{300 + 613 * i % 1500}" for i in range(300)]
    path.write_text("\n".join(["job_id,submit_s,gpus,duration_s", *rows, ""]))
    SMALL["workload"] = str(path)


def figures(policy, threads, **world):
    """Every figure of every run but the times that it took."""
    runs = allot.compare([policy], threads=threads, bar=False, **(SMALL | world)).runs()
    timed = [name for name in runs if name.startswith("decision_us") or name in ("cpu_s", "wall_s")]
    return runs.drop(columns=timed).to_csv()


def vector_env(action, **options):
    pytest.importorskip("stable_baselines3")
    world = {key: value for key, value in SMALL.items() if key not in ("workloads", "seed")}
    return allot.sb3.make_vec_env(2, threads=1, action=action, **SPACES, **world, **options)


def maskable(deterministic):
    contrib = pytest.importorskip("sb3_contrib")
    env = vector_env("choice")
    model = contrib.MaskablePPO("MultiInputPolicy", env, n_steps=8, batch_size=8, n_epochs=1, seed=0, device="cpu")
    model.learn(16)
    model.policy.action_net.bias.data[:: SPACES["max_configurations"] + 1] = -9  # no job is left without GPUs
    return allot.Sb3Policy(model, deterministic=deterministic, name="mine")


def plain_ppo(deterministic):
    sb3 = pytest.importorskip("stable_baselines3")
    env = vector_env("index")
    model = sb3.PPO("MultiInputPolicy", env, n_steps=8, batch_size=8, n_epochs=1, seed=0, device="cpu")
    return allot.Sb3Policy(model.learn(16), deterministic=deterministic, name="mine")


def stateful_module():
    torch = pytest.importorskip("torch")

    class Module(torch.nn.Module):
        """Has a dropout, draws, and remembers; what it remembers hangs on a graph."""

        def __init__(self):
            super().__init__()
            self.net, self.dropout = torch.nn.Linear(1, 3), torch.nn.Dropout()
            self.seen = self.net(torch.ones(SPACES["max_jobs"], 1))

        def forward(self, seen):
            jobs = self.dropout(self.net(seen["jobs"][0, :, :1]))
            self.seen = 0.9 * self.seen + jobs + torch.randn(jobs.shape)
            return self.seen

    torch.manual_seed(0)
    return allot.TorchPolicy(Module(), action="index", name="mine", **SPACES)


def drawing_onnx(tmp_path):
    pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    columns = len(allot.features.JOBS)
    of, kind = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [of.make_node("RandomNormalLike", ["jobs"], ["noise"]), of.make_node("Add", ["jobs", "noise"], ["sum"]),
             of.make_node("Slice", ["sum", "from", "to", "axis"], ["scores"])]
    ends = [of.make_tensor(name, onnx.TensorProto.INT64, [1], [value]) for name, value in (("from", 0), ("to", 3), ("axis", 1))]
    jobs = of.make_tensor_value_info("jobs", kind, [SPACES["max_jobs"], columns])
    graph = of.make_graph(nodes, "drawing", [jobs], [of.make_tensor_value_info("scores", kind, [SPACES["max_jobs"], 3])], ends)
    model = of.make_model(graph, opset_imports=[of.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "drawing.onnx")
    return allot.OnnxPolicy(tmp_path / "drawing.onnx", action="index", **SPACES)


class Remembering(allot.TrainedPolicy):
    """Decides by what it did before and by numpy's and Python's shared generators."""

    def __init__(self):
        self.before = []
        super().__init__(self.answer, action="index", name="mine", **SPACES)

    def answer(self, seen, mask):
        self.before.append(np.random.rand(SPACES["max_jobs"], 3) + random.random())
        return np.mean(self.before, axis=0)


class Model:
    def __init__(self):
        self.calls = 0

    def predict(self, seen, mask):
        self.calls += 1
        return np.sin(self.calls * np.arange(3 * SPACES["max_jobs"])).reshape(-1, 3)


@pytest.mark.parametrize("make", [
    lambda _: maskable(True), lambda _: maskable(False), lambda _: plain_ppo(True), lambda _: plain_ppo(False),
    lambda _: stateful_module(), drawing_onnx, lambda _: Remembering(),
    lambda _: allot.TrainedPolicy(Model().predict, action="index", name="mine", **SPACES),
], ids=["maskable-likeliest", "maskable-drawn", "ppo-likeliest", "ppo-drawn", "torch", "onnx", "subclass", "method"])
def test_figures_are_the_same_on_any_number_of_threads(make, tmp_path):
    policy = make(tmp_path)
    alone = figures(policy, 1)
    for threads in (1, 2, 8):
        assert figures(policy, threads) == alone


def test_runs_leave_the_shared_generators_as_they_were():
    random.seed(1)
    np.random.seed(1)
    expected = random.random(), np.random.rand()
    random.seed(1)
    np.random.seed(1)
    figures(Remembering(), 1)
    assert (random.random(), np.random.rand()) == expected


def test_drawn_actions_depend_on_the_seed():
    assert figures(Remembering(), 1) == figures(Remembering(), 1) != figures(Remembering(), 1, seed=6)


# ---- what a model of sb3 was trained under ----


def normalised_ppo(tmp_path, **options):
    """A model that was trained under VecNormalize, and the paths of both."""
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.vec_env import VecNormalize

    env = VecNormalize(vector_env("index"), **options)
    model = sb3.PPO("MultiInputPolicy", env, n_steps=8, batch_size=8, n_epochs=1, seed=0, device="cpu").learn(64)
    model.save(tmp_path / "ppo.zip")
    env.save(tmp_path / "statistics.pkl")
    return model, tmp_path / "ppo.zip", tmp_path / "statistics.pkl"


def test_statistics_of_vecnormalize_are_used(tmp_path):
    from stable_baselines3 import PPO

    model, path, statistics = normalised_ppo(tmp_path, norm_obs=True)
    of_object = figures(allot.Sb3Policy(model, name="ppo"), 1)
    assert figures(allot.Sb3Policy(path, algorithm=PPO, normalize=statistics), 1) == of_object
    assert figures(allot.Sb3Policy(path, algorithm=PPO, normalize=model.get_vec_normalize_env()), 1) == of_object
    assert figures(allot.Sb3Policy(path, algorithm=PPO, normalize=False), 1) != of_object


def test_a_model_without_its_statistics_is_refused(tmp_path):
    from stable_baselines3 import PPO

    _, path, statistics = normalised_ppo(tmp_path, norm_obs=True)
    with pytest.raises(allot.UsageError, match="VecNormalize, whose statistics are not in its file: give normalize="):
        allot.Sb3Policy(path, algorithm=PPO)
    with pytest.raises(allot.UsageError, match="normalize is a VecNormalize, .*got int"):
        allot.Sb3Policy(path, algorithm=PPO, normalize=3)
    statistics.write_bytes(b"no pickle")
    with pytest.raises(allot.DataError, match="statistics.pkl: not readable as"):
        allot.Sb3Policy(path, algorithm=PPO, normalize=statistics)


def test_recurrent_models_keep_their_state():
    contrib = pytest.importorskip("sb3_contrib")
    options = {"n_lstm_layers": 1, "lstm_hidden_size": 8}
    env = vector_env("index", windows="weekly")
    model = contrib.RecurrentPPO("MultiInputLstmPolicy", env, n_steps=8, batch_size=8, n_epochs=1, seed=0, device="cpu",
                                 policy_kwargs=options)
    world = {key: value for key, value in SMALL.items() if key not in ("workloads", "seed")}
    alone = allot.GpuClusterEnv(action="index", windows="weekly", seed=5, **SPACES, **world)  # elasticity is the seed's, too
    seen, _ = alone.reset(seed=5)
    state, start, ended = None, np.ones(1, bool), False
    while not ended:
        action, state = model.predict(seen, state=state, episode_start=start, deterministic=True)
        start = np.zeros(1, bool)
        seen, _, terminated, truncated, info = alone.step(action)
        ended = terminated or truncated
    run = allot.simulate(allot.Sb3Policy(model, name="mine"), seed=5, **world)
    assert run.summary["avg_jct_s"] == pytest.approx(info["avg_jct_s"], rel=1e-12)


def test_policies_are_named_by_their_files(tmp_path):
    path = drawing_onnx(tmp_path).path
    assert allot.OnnxPolicy(path, action="index", **SPACES).name == "drawing"
    assert allot.OnnxPolicy(path, name="other", action="index", **SPACES).name == "other"
