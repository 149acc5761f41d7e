"""Trained models as policies: they see and do in experiments what they saw and did in the environment."""

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
