"""`allot serve` on a Slurm that is not its alone: what others hold, what Slurm does not begin with, what a dry run leaves."""

import subprocess

import pytest

from allot_on_slurm import LONG, ONE_TYPE
from waiting import json_of, wait_until

SLEEP = "--wrap=sleep 1000"


@pytest.fixture
def serve(daemon):
    daemon.start()
    return daemon


def by_root(cluster, *options):
    """The number of a job that no user of allot's submitted, once it runs."""
    number = int(cluster.client("sbatch", "--parsable", "--partition=main", "--output=/dev/null", *options, SLEEP))
    wait_until(lambda: cluster.jobs()[number]["JobState"] == "RUNNING", "it to run")
    return number


def taken(serve):
    return {node["node"]: node["taken"] for node in serve.status()["nodes"] if node["taken"]}


def test_gpus_of_others_are_not_given_until_they_are_free(cluster, serve):
    foreign = by_root(cluster, "--gres=gpu:v100:3", "--nodelist=n1")
    wait_until(lambda: taken(serve) == {"n1": 3}, lambda: f"3 GPUs to be others': {taken(serve)}")
    number = serve.submit("allot min=1 max=20", *LONG)
    job = serve.training(number, 16)
    assert job["nodes"].get("n1", 0) <= 1
    assert not serve.status()["jobs"][0]["reason"]
    cluster.client("scancel", str(foreign))
    serve.training(number, 20, behind=job["step"])


def test_a_reservation_is_left_alone_but_not_what_runs_there(cluster, serve):
    before = serve.submit("allot min=2 max=2", *LONG)
    node = next(iter(serve.training(before, 2)["nodes"]))
    cluster.client("scontrol", "create", "reservation", "reservationname=r", "starttime=now", "duration=60", f"nodes={node}",
                   "users=root", "flags=ignore_jobs")
    try:
        wait_until(lambda: taken(serve).get(node), f"{node} to be reserved")
        number = serve.submit("allot min=1 max=20", *LONG)
        others = sum(gpus for name, *_, gpus in ONE_TYPE if name != node)
        assert node not in serve.training(number, others)["nodes"]
        assert serve.job(before)["held"] == 2
    finally:
        cluster.client("scontrol", "delete", "reservationname=r")


# Takes longer than 10 s: the daemon waits 20 s before it takes back GPUs of a pending worker.
def test_what_slurm_leaves_pending_is_told_and_taken_back(cluster, serve):
    cluster.client("scontrol", "update", "partitionname=main", "maxtime=1")
    try:
        number = serve.submit("allot min=1 max=4", *LONG, options=("--time=10",))
        wait_until(lambda: (serve.job(number) or {}).get("reason") == "pending: PartitionTimeLimit",
                   lambda: f"Slurm's reason: {serve.job(number)}")
        said = serve.say("status").stdout
        assert "pending: PartitionTimeLimit" in said, said
        wait_until(lambda: any(record["what"] in ("give", "take") and record.get("why") == "pending: PartitionTimeLimit"
                               for record in json_of(serve.state / "journal.jsonl")), "it to be taken back")
    finally:
        cluster.client("scontrol", "update", "partitionname=main", "maxtime=infinite")
    serve.training(number, 4)


def test_a_dry_run_changes_nothing_in_slurm(cluster, daemon):
    good = daemon.submit("allot min=1 max=4", *LONG)
    bad = daemon.submit("allot min=4 max=2", *LONG)
    before = {number: cluster.jobs()[number] for number in (good, bad)}
    daemon.start("--dry-run")
    wait_until(lambda: "would give" in daemon.log(), daemon.log)
    done = daemon.say("cancel", str(good))
    assert done.returncode == 1 and "a dry run cancels no job" in done.stderr, done
    begin = daemon.status()["now"]
    wait_until(lambda: daemon.status()["now"] > begin + 3, "some more looks")
    now = cluster.jobs()
    assert set(now) >= {good, bad} and not daemon.workers(good)
    slurms = {"Reason", "AccrueTime", "LastSchedEval"}  # own bookkeeping
    for number, job in before.items():
        assert {key for key in job.keys() | now[number].keys() if job.get(key) != now[number].get(key)} <= slurms


def test_two_daemons_with_other_folders_do_not_serve_one_cluster(cluster, serve, tmp_path):
    done = subprocess.run([serve.program, "serve", "--runtime", "slurm", "--state", tmp_path / "other"],
                          env=cluster.environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "one daemon a cluster" in done.stderr, done.stderr
    assert str(serve.process.pid) in done.stderr, done.stderr


def test_a_job_is_cancelled_by_slurms_number(serve):
    number = serve.submit("allot min=1 max=2", *LONG)
    serve.training(number)
    assert serve.say("cancel", str(number)).returncode == 0
    serve.ended(number, "CANCELLED")
