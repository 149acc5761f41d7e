"""Networks in Python compute what the engine computes, and go back into checkpoints that it runs."""

import json

import numpy as np
import pytest

allot = pytest.importorskip("allot")
from allot import _allot  # noqa: E402

# A spec of each registered network; a new network fails test_every_network_is_here until it has one.
SPECS = {
    "flat": "flat:window=6,hidden=32",
    "index": "index",
    "offsets": "offsets",
    "order": "order",
    "shared": "shared",
}
NAMES = sorted(SPECS)


@pytest.fixture
def run(request):
    """The program."""
    return request.getfixturevalue("allot")


def drawn(spec, seed=3):
    """A checkpoint whose weights are all drawn, so that every tensor counts."""
    fresh = allot.new_checkpoint(spec, seed=seed)
    if fresh.kind == "offsets":
        fresh = fresh.in_world("here", "index:alpha=0.25").in_world("there", "index:alpha=1")
    rng = np.random.default_rng(seed)
    tensors = {name: rng.normal(0, 0.2, values.shape) for name, values in fresh.tensors.items()}
    return fresh.with_weights(tensors, trained_on=[])


def inputs(checkpoint, n, seed=5):
    rng = np.random.default_rng(seed + n)
    rows = checkpoint.shape.get("window", n)
    jobs = rng.normal(0, 1, (rows, checkpoint.shape["job_features"])).astype(np.float32)
    size = checkpoint.shape.get("context_features")
    return jobs, None if size is None else rng.normal(0, 1, size).astype(np.float32)


def engine(checkpoint, jobs, context, world=""):
    none = np.zeros(0, np.float32)
    return _allot._network_outputs(checkpoint._to_dict(), world, jobs, none if context is None else context)


def close(a, b, bound):
    assert a.shape == b.shape
    assert np.max(np.abs(a - b), initial=0) <= bound * max(1.0, np.max(np.abs(b), initial=0))


def test_every_network_is_here():
    assert sorted(each["name"] for each in allot.networks()) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [0, 1, 7, 200])
def test_numpy_computes_what_the_engine_does(name, n):
    checkpoint = drawn(SPECS[name])
    for world in ["", *checkpoint.worlds]:
        jobs, context = inputs(checkpoint, n)
        close(checkpoint.outputs(jobs, context, world), engine(checkpoint, jobs, context, world), 1e-6)


@pytest.mark.parametrize("name", ["dl2", "philly-elastic", "universal"])
def test_released_checkpoints_compute_the_same(root, name):
    checkpoint = allot.load_checkpoint(root / "checkpoints" / name / "accepted")
    assert checkpoint.sources
    for world in ["", *checkpoint.worlds]:
        jobs, context = inputs(checkpoint, 30)
        close(checkpoint.outputs(jobs, context, world), engine(checkpoint, jobs, context, world), 1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_torch_computes_the_same_and_all_parameters_learn(name):
    torch = pytest.importorskip("torch")
    checkpoint = drawn(SPECS[name])
    module = checkpoint.torch()
    assert sorted(module.state_dict()) == sorted(checkpoint.tensors)
    reached = set()
    for world in ["", *checkpoint.worlds]:
        jobs, context = inputs(checkpoint, 9)
        given = [torch.tensor(jobs), None if context is None else torch.tensor(context)]
        out = module(*given, world=world)
        close(out.detach().numpy(), engine(checkpoint, jobs, context, world), 1e-6)
        module.zero_grad()
        out.square().sum().backward()
        reached |= {key for key, p in module.named_parameters() if p.grad is not None and p.grad.abs().sum() > 0}
    assert reached == set(checkpoint.tensors)


@pytest.mark.parametrize("name", NAMES)
def test_onnx_computes_the_same_for_any_number_of_jobs(name, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    checkpoint = drawn(SPECS[name])
    world = checkpoint.worlds[0] if checkpoint.worlds else ""
    allot.export_onnx(checkpoint, tmp_path / "net.onnx", world)
    session = runtime.InferenceSession(str(tmp_path / "net.onnx"), providers=["CPUExecutionProvider"])
    for n in (1, 2, 13, 128):
        jobs, context = inputs(checkpoint, n)
        feeds = {"jobs": jobs} if context is None else {"jobs": jobs, "context": context}
        close(session.run(None, feeds)[0], engine(checkpoint, jobs, context, world), 1e-5)
    assert json.loads(session.get_modelmeta().custom_metadata_map["allot.lineage"]) == checkpoint.lineage


def test_a_module_trained_here_is_a_checkpoint_that_the_program_evaluates(run, tmp_path):
    torch = pytest.importorskip("torch")
    module = drawn("index").torch()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(0.5)
    window = {"workload": "embedded", "from": "2017-10-30", "to": "2017-11-06"}
    start = allot.new_checkpoint("index")
    start.with_weights(module, trained_on=[window]).save(tmp_path / "mine")
    back = allot.load_checkpoint(tmp_path / "mine")
    assert back.sources == [window]
    for name, values in module.state_dict().items():
        assert np.array_equal(back.tensors[name], values.numpy())
    for days, said in ((("2017-11-06", "2017-11-08"), True), (("2017-10-31", "2017-11-02"), False)):
        done = run("evaluate", "--checkpoint", tmp_path / "mine", "--from", days[0], "--to", days[1], "--against", "fifo",
                             "--json")
        assert json.loads(done.stdout)["unseen"] is said


def test_weights_of_unknown_training_are_not_called_unseen():
    changed = allot.new_checkpoint("index").with_weights(drawn("index").tensors)
    assert changed.sources == [{"unknown": "trained in Python"}]


def test_a_checkpoint_of_another_feature_version_is_refused(tmp_path):
    import dataclasses

    drawn("index").save(tmp_path / "net")
    other = dataclasses.replace(allot.load_checkpoint(tmp_path / "net"), feature_version=999)
    with pytest.raises(allot.DataError, match="999"):
        other.save(tmp_path / "other")
    # A whole checkpoint of an earlier version, as an older allot wrote it.
    state = (tmp_path / "net" / "state.json").read_bytes().replace(b'"feature_version": 4', b'"feature_version": 3')
    (tmp_path / "net" / "state.json").write_bytes(state)
    hashed = 0xCBF29CE484222325
    for byte in state:
        hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
    manifest = json.loads((tmp_path / "net" / "manifest.json").read_text())
    manifest["files"]["state.json"]["checksum"] = f"fnv1a64:{hashed:016x}"
    (tmp_path / "net" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(allot.DataError, match="feature version 3, this allot needs 4"):
        allot.load_checkpoint(tmp_path / "net")


def test_wrong_shapes_name_both():
    checkpoint = allot.new_checkpoint("index")
    with pytest.raises(allot.UsageError, match=r"\(n, 21\).*\(3, 5\)"):
        checkpoint.outputs(np.zeros((3, 5)), np.zeros(50))
    with pytest.raises(allot.UsageError, match=r"\(50,\)"):
        checkpoint.outputs(np.zeros((3, 21)))
    with pytest.raises(allot.UsageError, match=r"hidden.job.*\(16, 21\).*\(2, 2\)"):
        checkpoint.with_weights({**checkpoint.tensors, "hidden.job": np.zeros((2, 2))})
