"""Episode logs as data to learn from: allot.data, and the same files with the real Minari."""

import json
import os
import random
import warnings

import numpy as np
import pytest

h5py = pytest.importorskip("h5py")
pytest.importorskip("allot")
data = pytest.importorskip("allot.data")

from allot.errors import DataError, UsageError  # noqa: E402

WORLD = ("--cluster", "2x4", "--load", "0.8", "--span", "12h", "--elastic", "--interval", "300")
POLICIES = ("fifo", "drf")


@pytest.fixture(scope="module")
def logs(program, tmp_path_factory):
    """The Minari folder of two policies on two workloads."""
    import subprocess

    folder = tmp_path_factory.mktemp("data")
    subprocess.run([program, "compare", *WORLD, "--workloads", "2", "--policies", ",".join(POLICIES), "--quiet",
                    "--log", folder / "logs"], cwd=folder, check=True, capture_output=True)
    return folder / "logs"


@pytest.fixture
def log(logs):
    with data.EpisodeLog(logs / "cluster" / "drf-v0") as opened:
        yield opened


@pytest.fixture
def minari(logs, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(logs))
    return pytest.importorskip("minari")


def file_of(folder):
    return folder / "data" / "main_data.hdf5"


@pytest.fixture
def copied(logs, tmp_path):
    """A copy of the log of drf that a test may change."""
    import shutil

    return shutil.copytree(logs / "cluster" / "drf-v0", tmp_path / "logs" / "cluster" / "drf-v0")


def test_what_is_read_is_what_minari_reads(log, minari):
    dataset = minari.load_dataset("cluster/drf-v0")
    assert len(log) == dataset.total_episodes == 2
    for ours, theirs in zip(log, dataset.iterate_episodes(), strict=True):
        for name, values in theirs.observations.items():
            np.testing.assert_array_equal(ours.observations[name], values)
        np.testing.assert_array_equal(ours.actions, theirs.actions)
        np.testing.assert_array_equal(ours.rewards, theirs.rewards)
        np.testing.assert_array_equal(ours.dt, theirs.infos["dt"][1:])
        np.testing.assert_array_equal(ours.terminations, theirs.terminations)
        assert all(dataset.action_space.contains(action) for action in theirs.actions)


def test_actions_are_the_logged_allocation(log):
    total = 0
    for episode in log:
        group = h5py.File(log.path)[f"episode_{episode.id}"]
        first = group["allocation/first_entry"][()]
        jobs, configurations = group["allocation/job"][()], group["allocation/configuration"][()]
        left_out = 0
        for step, action in enumerate(episode.actions):
            given = {int(job): int(c) + 1 for job, c in zip(jobs[first[step]:first[step + 1]], configurations[first[step]:])}
            said = {int(job): int(choice) for job, choice in zip(episode.job[step], action) if choice > 0}
            left_out += len(given) - len(said)
            assert said.items() <= given.items()
            total += len(said)
        assert left_out == episode.left_out
    assert total > 100


def test_given_configurations_are_legal(log):
    for episode in log:
        masks = episode.action_masks().reshape(len(episode) + 1, log.max_jobs, log.max_configurations + 1)
        assert masks.dtype == np.int8 and (masks[:, :, 0] == 1).all()
        steps, slots = np.nonzero(episode.actions)
        assert (masks[steps, slots, episode.actions[steps, slots]] == 1).all()
        assert (masks[:, :, 1:][episode.job < 0] == 0).all(), "where no job is, nothing can be given"
        assert masks[:, :, 1:].any()


def test_slots_name_their_jobs(log):
    for episode in log:
        assert len(set(episode.job_ids)) == len(episode.job_ids)
        mask = episode.observations["job_mask"]
        for step in range(0, len(episode) + 1, 7):
            ids = episode.slot_ids(step)
            assert [name is not None for name in ids] == (mask[step] == 1).tolist()
        assert episode.slot_ids(0)[0] == episode.job_ids[0]


def test_steps_last_as_long_as_said(log):
    for episode in log:
        np.testing.assert_allclose(episode.dt, np.diff(episode.time), rtol=0, atol=0)
        assert (episode.dt >= 0).all()


def test_features_are_named_and_bounded(log):
    from allot import features

    assert log.features["jobs"] == features.JOBS
    assert log.features["context"] == features.CONTEXT
    assert log.feature_version == features.VERSION
    for episode in log:
        jobs = episode.observations["jobs"][episode.observations["job_mask"] == 1]
        for values, table in ((jobs, features.JOBS), (episode.observations["context"], features.CONTEXT)):
            assert values.shape[-1] == len(table)
            for column, feature in enumerate(table):
                assert values[:, column].min() >= feature.low, feature.name
                assert values[:, column].max() <= feature.high, feature.name


def test_flat_arrays_are_gymnasiums_flatten(logs, log, minari):
    spaces = pytest.importorskip("gymnasium.spaces")
    space = minari.load_dataset("cluster/drf-v0").observation_space
    flat = data.flat_dataset(logs / "cluster" / "drf-v0")
    assert len(flat.names) == spaces.flatten_space(space).shape[0] == len(set(flat.names))
    for episode, observations in zip(log, flat.observations, strict=True):
        row = {name: values[5] for name, values in episode.observations.items()}
        np.testing.assert_array_equal(observations[5], spaces.flatten(space, row))
        assert (observations >= flat.low).all() and (observations <= flat.high).all()
        age = observations[:, flat.names.index("jobs[2].age")]
        place = [f.name for f in log.features["jobs"]].index("age")
        np.testing.assert_array_equal(age, episode.observations["jobs"][:, 2, place])


def test_flat_log_is_a_minari_dataset_of_one_box(logs, log, tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    folder = data.flat_dataset(logs / "cluster" / "drf-v0", out=tmp_path)
    assert folder == tmp_path / "cluster" / "drf-flat-v0"
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    dataset = minari.load_dataset("cluster/drf-flat-v0")
    assert dataset.total_steps == sum(len(episode) for episode in log)
    for ours, theirs in zip(log, dataset.iterate_episodes(), strict=True):
        np.testing.assert_array_equal(ours.flat_observations(), theirs.observations)
        np.testing.assert_array_equal(ours.actions, theirs.actions)
        assert dataset.observation_space.contains(theirs.observations[3])
    with h5py.File(file_of(folder)) as file:
        assert len(json.loads(file.attrs["names"])) == dataset.observation_space.shape[0]


def test_logs_of_two_policies_go_together(logs):
    folders = [logs / "cluster" / f"{policy}-v0" for policy in POLICIES]
    assert len(data.flat_dataset(folders).observations) == 4


def test_two_feature_versions_are_not_mixed(logs, copied, allot, training):
    with h5py.File(file_of(copied), "r+") as file:
        file.attrs["feature_version"] = 1
    both = [logs / "cluster" / "drf-v0", copied]
    with pytest.raises(DataError, match=r"feature_version.*has \d+, .*drf-v0.* has 1"):
        data.flat_dataset(both)
    stderr = allot("pretrain", "--log", both[0], "--log", both[1], "--epochs", "1", "--out", "pre", "--quiet", exit=3).stderr
    assert "feature versions cannot be mixed" in stderr and str(copied) in stderr


def test_no_log_is_named(tmp_path):
    with pytest.raises(DataError, match="main_data.hdf5"):
        data.EpisodeLog(tmp_path)
    with pytest.raises(UsageError):
        data.read_logs([])


@pytest.mark.parametrize("schema", ["allot-episode-log/1", "allot-episode-log/3"])
def test_logs_of_another_schema_are_refused(copied, allot, schema):
    with h5py.File(file_of(copied), "r+") as file:
        file.attrs["schema"] = np.bytes_(schema)
    refusal = f"the log has schema '{schema}', this allot needs 'allot-episode-log/2': write it again"
    with pytest.raises(DataError, match=refusal):
        data.EpisodeLog(copied)
    assert refusal in allot("replay", copied, exit=3).stderr


def test_text_of_variable_length_is_refused(copied, allot):
    with h5py.File(file_of(copied), "r+") as file:
        file["episode_0"].attrs["note"] = "of somebody else"
    assert " 0 different" in allot("replay", copied).stdout
    with h5py.File(file_of(copied), "r+") as file:
        file.attrs["schema"] = "allot-episode-log/2"
    with pytest.raises(DataError, match="'schema' is text of variable length"):
        data.EpisodeLog(copied)
    assert "'schema' must be text, is text of variable length" in allot("replay", copied, exit=3).stderr


def test_damage_is_a_data_error(copied):
    def read():
        with data.EpisodeLog(copied) as log:
            return [episode.job_ids for episode in log], log.metadata["total_steps"]

    whole, metadata = file_of(copied).read_bytes(), file_of(copied).with_name("metadata.json")
    expected, draw = read(), random.Random(3)
    refused = 0
    for name, original in ((file_of(copied), whole), (metadata, metadata.read_bytes())):
        for _ in range(150):
            damaged = bytearray(original)
            damaged[draw.randrange(len(damaged))] ^= draw.randrange(1, 256)
            name.write_bytes(damaged)
            try:
                found = read()
                assert name == metadata or found == expected
            except DataError as error:
                assert str(copied) in str(error)
                refused += 1
        name.write_bytes(original)
    assert refused > 50


def test_what_was_left_out_is_verified(copied, allot):
    with h5py.File(file_of(copied), "r+") as file:
        file["episode_1"].attrs["actions_left_out"] += 1
    said = allot("replay", copied, exit=4).stdout
    assert "episode 1, 'actions_left_out'" in said


def test_a_changed_id_is_found_and_named(copied, allot):
    with h5py.File(file_of(copied), "r+") as file:
        ids = file["episode_0/workload/job_id"]
        was = ids.asstr()[3]
        ids[3] = f"x{was[1:]}"
    said = allot("replay", copied, exit=4).stdout
    assert f"episode 0, 'workload/job_id' of job 3: 'x{was[1:]}' has hash" in said


def test_steps_of_the_environment_are_those_of_the_recovered_one(tmp_path, monkeypatch):
    allot = pytest.importorskip("allot")
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    world = {"cluster": "2x4", "load": 0.9, "span": "8h", "elastic": True, "interval": 300, "seed": 4}
    allot.compare("srtf,las", log=tmp_path, log_steps="environment", workloads=2, bar=False, **world)
    for name in ("srtf", "las"):
        dataset = minari.load_dataset(f"cluster/{name}-v0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            env = dataset.recover_environment()
        for episode, seed in zip(dataset.iterate_episodes(), (4, 5), strict=True):
            seen, _ = env.reset(seed=seed)
            for step, action in enumerate(episode.actions):
                for key, values in episode.observations.items():
                    np.testing.assert_array_equal(seen[key], values[step], err_msg=f"{name}, {key} at step {step}")
                seen, reward, terminated, truncated, info = env.step(action)
                assert reward == pytest.approx(episode.rewards[step], rel=1e-9, abs=1e-6)
                assert not info["illegal_action"] and info["unplaced_jobs"] == 0
                assert (terminated, truncated) == (episode.terminations[step], episode.truncations[step])
            assert terminated and step + 1 == len(episode)
        env.close()


def test_logs_of_one_world_are_combined(tmp_path, monkeypatch):
    allot = pytest.importorskip("allot")
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    world = {"cluster": "2x4", "load": 0.8, "span": "6h", "elastic": True}
    allot.compare("fifo", log=tmp_path, workloads=2, bar=False, **world)
    allot.compare("las", log=tmp_path, workloads=3, bar=False, **world)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = minari.combine_datasets([minari.load_dataset(f"cluster/{name}-v0") for name in ("fifo", "las")], "cluster/both-v0")
    assert both.total_episodes == 5 and len(list(both.iterate_episodes())) == 5


def test_environment_is_recovered(log, minari, logs):
    pytest.importorskip("allot.envs")
    dataset = minari.load_dataset("cluster/drf-v0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # run from the build tree, the distribution is not installed
        env = dataset.recover_environment()
    assert env.spec.kwargs["action"] == "choice" and env.spec.kwargs["cluster"] == "2x4"
    assert env.action_space == dataset.action_space
    assert set(env.observation_space.spaces) == set(dataset.observation_space.spaces)
    for episode in log:
        observation, _ = env.reset(seed=episode.seed)
        for name, values in episode.observations.items():
            np.testing.assert_array_equal(observation[name], values[0], err_msg=f"{name} of episode {episode.id}")
    env.close()
