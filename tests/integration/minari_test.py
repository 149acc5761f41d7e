"""The episode log, opened with Minari itself: needs `minari[hdf5]==0.5.4 pillow` (Minari forgets Pillow)."""

import csv
import json
import os
import resource
import subprocess
import sys

import h5py
import numpy as np
import pytest

import record_example

DATASET = "cluster/example-fifo-v0"
STEPS = [4, 5, 6]


@pytest.fixture(scope="module")
def datasets(tmp_path_factory):
    return record_example.write_example(tmp_path_factory.mktemp("record")) / "datasets"


@pytest.fixture()
def minari(datasets, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(datasets))
    import minari

    return minari


@pytest.fixture()
def dataset(minari):
    return minari.load_dataset(DATASET)


def run_minari(datasets, *arguments):
    environment = {**os.environ, "MINARI_DATASETS_PATH": str(datasets), "COLUMNS": "200"}
    command = [sys.executable, "-c", "from minari.cli import app; app()", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_totals(dataset):
    assert dataset.total_episodes == len(STEPS)
    assert dataset.total_steps == sum(STEPS)


def test_episodes_have_minaris_shape(dataset):
    episodes = list(dataset.iterate_episodes())
    assert [episode.id for episode in episodes] == [0, 1, 2]
    for episode, steps in zip(episodes, STEPS):
        assert len(episode) == steps
        assert episode.observations["jobs"].shape == (steps + 1, 3, 2)
        assert episode.actions.shape == episode.rewards.shape == (steps,)
        assert episode.terminations.dtype == episode.truncations.dtype == bool
        assert episode.terminations.tolist() == [False] * (steps - 1) + [True]
        assert not episode.truncations.any()
        assert episode.rewards.tolist() == [-float(i) for i in range(steps)]
        assert episode.infos["now"].shape == (steps + 1,)


def test_spaces_contain_what_was_logged(dataset):
    for episode in dataset.iterate_episodes():
        for row in range(len(episode) + 1):
            observation = {name: rows[row] for name, rows in episode.observations.items()}
            assert dataset.observation_space.contains(observation)
        assert all(dataset.action_space.contains(action) for action in episode.actions)


def test_sampling(dataset):
    dataset.set_seed(1)
    assert len(list(dataset.sample_episodes(2))) == 2


def test_filtering(dataset):
    long = dataset.filter_episodes(lambda episode: len(episode) > 4)
    assert long.total_episodes == 2


def test_episode_metadata(dataset):
    metadata = list(dataset.storage.get_episode_metadata([0, 1]))
    assert metadata[1]["seed"] == 101
    assert metadata[1]["total_steps"] == 5
    assert metadata[1]["options"]["cluster"]["nodes"] == 16
    assert metadata[1]["options"]["trace"] == b"philly"  # of a fixed length, which h5py gives as bytes
    assert metadata[0]["rewards_sum"] == -6.0
    assert metadata[0]["rewards_std"] == np.std([0, -1, -2, -3])


def test_private_groups_beside_minaris(datasets):
    with h5py.File(datasets / DATASET / "data" / "main_data.hdf5") as file:
        assert file.attrs["schema"] == b"allot-episode-log/2"
        assert file["episode_0/allocation/job"][:].tolist() == [0, 1, 1]
        assert file["episode_0/allocation/node"].shape == (0,)
        assert file["episode_0/workload/job_id"].asstr()[1] == "größe"
        assert file["episode_0/workload"].attrs["source"] == b"traces/example.csv"
        stored = file["episode_0/observations/cluster"]
        assert (stored.attrs["units"], stored.maxshape[0]) == (b"1", None)
        assert (stored.compression, stored.shuffle, stored.fletcher32) == ("gzip", True, True)


def test_listing_in_python(minari):
    assert DATASET in minari.list_local_datasets()


def test_command_line(datasets):
    assert DATASET in run_minari(datasets, "list", "local")
    assert "Example of the tests" in run_minari(datasets, "show", DATASET)


def test_minari_can_change_metadata(minari, tmp_path, monkeypatch):
    record_example.write_example(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    dataset = minari.load_dataset(DATASET)
    dataset.storage.update_episode_metadata([{"note": "seen"}], [2])
    assert list(dataset.storage.get_episode_metadata([2]))[0]["note"] == "seen"


# ---- the log of a real run ----


@pytest.fixture(scope="module")
def trace():
    return record_example.REPOSITORY / "traces" / "samples" / "philly_joined.csv"


def test_simulated_episode(allot, trace, tmp_path, monkeypatch):
    allot("simulate", "--workload", trace, "--cluster", "16x4", "--policy", "las", "--quiet",
          "--out", tmp_path / "out", "--log", tmp_path / "logs")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "logs"))
    import minari

    dataset = minari.load_dataset("cluster/las-v0")
    (episode,) = dataset.iterate_episodes()
    with open(tmp_path / "out" / "jobs.csv", newline="") as file:
        jct = [float(row["jct_s"]) for row in csv.DictReader(file)]
    assert episode.rewards.sum() == pytest.approx(-sum(jct), rel=1e-9)
    first = {name: rows[0] for name, rows in episode.observations.items()}
    assert dataset.observation_space.contains(first)
    assert dataset.action_space.contains(episode.actions[0])


def test_comparison_is_one_dataset_per_policy(allot, tmp_path, monkeypatch):
    allot("compare", "--cluster", "4x8", "--load", "0.5", "--span", "1d", "--workloads", "2", "--policies", "fifo,las",
          "--quiet", "--out", tmp_path / "out", "--log", tmp_path / "logs")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "logs"))
    import minari

    evaluation = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    for policy in evaluation["policies"]:
        dataset = minari.load_dataset(f"cluster/{policy['id']}-v0")
        episodes = list(dataset.iterate_episodes())
        assert [len(episode) for episode in episodes] == [run["decisions"] for run in policy["runs"]]
        for episode, run in zip(episodes, policy["runs"]):
            assert -episode.rewards.sum() / run["jobs"] == pytest.approx(run["avg_jct_s"], rel=1e-6)
            assert episode.terminations.tolist() == [False] * (len(episode) - 1) + [True]
            last = {name: rows[-1] for name, rows in episode.observations.items()}
            assert dataset.observation_space.contains(last)


def test_log_replays_to_the_same_completions(allot, trace, tmp_path):
    allot("compare", "--workload", trace, "--cluster", "16x4", "--policies", "fifo,las", "--quiet",
          "--log", tmp_path / "logs")
    for policy in ("fifo", "las"):
        assert " 0 different" in allot("replay", tmp_path / "logs" / "cluster" / f"{policy}-v0").stdout


def test_damaged_log_is_bad_data(allot, trace, tmp_path):
    allot("simulate", "--workload", trace, "--cluster", "16x4", "--policy", "fifo", "--quiet",
          "--log", tmp_path / "logs")
    file = tmp_path / "logs" / "cluster" / "fifo-v0" / "data" / "main_data.hdf5"
    os.truncate(file, file.stat().st_size - 1)
    assert str(file) in allot("replay", file, exit=3).stderr


def test_full_disk_leaves_nothing_under_a_final_name(allot, trace, tmp_path):
    # A limit on file sizes stands in for the disk; restore_signals=False keeps its signal ignored.
    done = allot("simulate", "--workload", trace, "--cluster", "16x4", "--policy", "fifo", "--quiet",
                 "--log", tmp_path / "logs", exit=1, restore_signals=False,
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)))
    assert "cannot write" in done.stderr and "File too large" in done.stderr
    assert not [path for path in (tmp_path / "logs").rglob("*") if path.is_file()]
