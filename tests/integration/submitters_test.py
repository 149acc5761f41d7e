"""Who submits, from the trace to the decision: users who differ in length are worth knowing, strangers do no harm."""

import json
import sys

import h5py
import pytest

OPTIONS = ["--cluster", "4x8", "--load", "1.3", "--span", "3d", "--from", "1814400", "--workloads", "3", "--rigid"]


@pytest.fixture(scope="module")
def submitters(root):
    """bench/submitters.py."""
    sys.path.append(str(root / "bench"))
    import submitters

    return submitters


@pytest.fixture(scope="module")
def jobs(submitters):
    return submitters.make_jobs(60000, 60, between=1.5, within=1, seed=2)


@pytest.fixture(scope="module")
def jct(submitters, program, jobs, tmp_path_factory):
    """jct(users) of the index policy, by workload, with these users in the column; no column: an empty list."""
    folder = tmp_path_factory.mktemp("traces")

    def play(users):
        return submitters.mean_jcts(program, submitters.write_csv(folder / "trace.csv", jobs, users), OPTIONS, 0.5)

    return play


@pytest.fixture(scope="module")
def without(jct):
    return jct([])


def test_users_that_differ_in_length_are_worth_knowing(submitters, jct, without):
    ratio, error = submitters.ratio(jct(None), without)
    assert ratio < 0.96 and ratio + error < 1


def test_users_that_tell_nothing_do_no_harm(submitters, jct, jobs, without):
    ratio, _ = submitters.ratio(jct(submitters.exchanged(jobs, 1)), without)
    assert 0.95 < ratio < 1.05


def test_one_user_for_all_is_as_good_as_nobody(submitters, jct, jobs, without):
    ratio, _ = submitters.ratio(jct(["all"] * len(jobs)), without)
    assert 0.97 < ratio < 1.03


def test_a_log_keeps_users_and_groups(allot, tmp_path):
    rows = [f"j{i},{i},1,600,u{i % 2},{'g' if i % 3 else ''}" for i in range(12)]
    (tmp_path / "t.csv").write_text("job_id,submit_s,gpus,duration_s,user,group\n" + "\n".join(rows) + "\n")
    allot("simulate", "--workload", "t.csv", "--cluster", "1x4", "--policy", "index:basis=gittins", "--log", "logs")
    log = next((tmp_path / "logs").glob("*/*"))
    with h5py.File(log / "data" / "main_data.hdf5") as file:
        workload = file["episode_0/workload"]
        assert set(workload["user"].asstr()) == {"u0", "u1"} and set(workload["group"].asstr()) == {"", "g"}
    allot("replay", log)


def test_snapshots_name_users_and_groups(allot, root, tmp_path):
    moment = {"snapshot": 1, "now": 600, "interval": 300, "cluster": "1x4",
              "tables": [{"kinds": [{"name": "gpu", "gpus": 1}], "configurations": [{"units": [1], "rate": 1}]}],
              "jobs": [{"job": "a", "submit": 0, "table": 0, "requested": 0, "user": "ann", "group": "train.py"},
                       {"job": "b", "submit": 60, "table": 0, "requested": 0, "user": None}]}
    explain = ["explain", "--checkpoint", root / "tests" / "golden" / "checkpoint", "--observation", "moment.json"]
    (tmp_path / "moment.json").write_text(json.dumps(moment))
    allot(*explain, "--save", "again.json")
    again = json.loads((tmp_path / "again.json").read_text())
    assert [(job["user"], job["group"]) for job in again["jobs"]] == [("ann", "train.py"), (None, None)]
    moment["jobs"][0]["user"] = 3
    (tmp_path / "moment.json").write_text(json.dumps(moment))
    assert "job 0: " in allot(*explain, exit=3).stderr
