"""`allot serve` and the jobs that people submit to Slurm besides plain ones: arrays, jobs for CPUs, constraints, time limits."""

import pytest

import cluster as slurm
from allot_on_slurm import LONG, ONE_TYPE, USER, Serve, why_not
from waiting import json_of, lines_of, wait_until

# A task that says who it is and waits until it may end.
TASK = '#!/bin/bash\necho "$SLURM_ARRAY_TASK_ID on $CUDA_VISIBLE_DEVICES" >>log\nuntil [ -e end ]; do sleep 0.1; done\n'


@pytest.fixture(scope="module")
def cluster(program):
    if why_not(program):
        pytest.skip(why_not(program))
    with slurm.throw_away(nodes=ONE_TYPE) as one:
        one.client("scontrol", "update", "nodename=n2", "availablefeatures=v100,nvlink", "activefeatures=v100,nvlink")
        yield one


@pytest.fixture
def serve(program, cluster, tmp_path, request):
    """With a parameter: the runtime."""
    one = Serve(program, cluster, tmp_path, runtime=getattr(request, "param", "slurm"))
    one.start()
    yield one
    one.kill()
    cluster.clear()


def known(serve, number):
    """What is told of the tasks of an array: name -> job."""
    return {job["name"]: job for job in serve.status()["jobs"] if job["name"].split("_")[0] == str(number)}


def states(cluster, number):
    """Of the tasks of an array, by their numbers; what is not split yet has none."""
    return {job["ArrayTaskId"]: job["JobState"] for job in cluster.jobs().values() if job.get("ArrayJobId") == str(number)}


def by_root(cluster, *options):
    return int(cluster.client("sbatch", "--parsable", "--partition=main", "--output=/dev/null", *options, "--wrap=sleep 1000"))


def test_tasks_of_an_array_are_jobs_of_their_own(cluster, serve):
    number = serve.submit("", options=("--gres=gpu:2", "--array=0-3%2"), script=TASK)
    log, home = serve.home / "log", serve.home
    wait_until(lambda: len(lines_of(log)) == 2, lambda: f"two tasks to run: {serve.log()[-3000:]}")
    assert set(known(serve, number)) == {f"{number}_0", f"{number}_1"}, "no more than may run at a time"
    assert f"{number}_1" in serve.say("status").stdout
    assert "2 more to come" in serve.say("queue").stdout
    assert serve.say("cancel", f"{number}_1").returncode == 0
    wait_until(lambda: len(lines_of(log)) == 3, lambda: f"the next task: {states(cluster, number)}")
    assert states(cluster, number)["0"] == "RUNNING", "the others are left alone"
    (home / "end").touch()
    wait_until(lambda: states(cluster, number) == {"0": "COMPLETED", "1": "CANCELLED", "2": "COMPLETED", "3": "COMPLETED"},
               lambda: f"all to end: {states(cluster, number)}\n{serve.log()[-3000:]}")
    assert sorted(line.split()[0] for line in lines_of(log)) == ["0", "1", "2", "3"]


def test_tasks_of_an_elastic_array_train_and_the_last_is_cancelled_alone(cluster, serve):
    number = serve.submit("allot min=1 max=2", *LONG, options=("--array=5-6",))
    wait_until(lambda: {name: job["held"] for name, job in known(serve, number).items() if job["stage"] == "training"}
               == {f"{number}_5": 2, f"{number}_6": 2}, lambda: f"both to train: {known(serve, number)}\n{serve.log()[-3000:]}")
    # Slurm's record of the last task has the number of the whole array.
    assert serve.say("cancel", f"{number}_6").returncode == 0
    wait_until(lambda: states(cluster, number)["6"] == "CANCELLED", lambda: f"{states(cluster, number)}")
    step = known(serve, number)[f"{number}_5"]["step"]
    wait_until(lambda: known(serve, number)[f"{number}_5"]["step"] > step, "the other to train on")
    assert states(cluster, number)["5"] == "RUNNING"


def test_a_killed_daemon_finds_the_tasks_of_an_array(cluster, serve):
    number = serve.submit("allot min=1 max=1", *LONG, options=("--array=0-1",))
    def training():
        return {name for name, job in known(serve, number).items() if job["stage"] == "training" and job["step"]}
    wait_until(lambda: len(training()) == 2, lambda: f"both to train: {known(serve, number)}")
    before = {name: job["epoch"] for name, job in known(serve, number).items()}
    serve.kill()
    serve.start()
    wait_until(lambda: len(training()) == 2, lambda: f"both to train: {known(serve, number)}")
    assert {name: job["epoch"] for name, job in known(serve, number).items()} == before


def test_jobs_without_gpus_are_left_to_slurm(cluster, serve):
    one = serve.submit("", script="#!/bin/bash\ntrue\n")
    several = serve.submit("for the paper", options=("--array=0-1",), script="#!/bin/bash\ntrue\n")
    serve.ended(one, "COMPLETED")
    wait_until(lambda: states(cluster, several) == {"0": "COMPLETED", "1": "COMPLETED"}, lambda: f"{states(cluster, several)}")
    assert not serve.status()["jobs"]
    assert cluster.jobs()[one]["Partition"] == "main"


@pytest.mark.parametrize(("serve", "priority"), [("slurm", 0), ("slurm:priority=slurm", 77)], indirect=["serve"])
def test_priorities_are_what_users_say_or_what_slurm_computes(cluster, serve, priority):
    number = int(cluster.client("sbatch", "--parsable", "--partition=elastic", "--priority=77", "--gres=gpu:1", "--output=/dev/null",
                                "--wrap=true"))
    serve.ended(number, "COMPLETED")
    asked = next(record for record in json_of(serve.state / "journal.jsonl")
                 if record["what"] == "job" and record["job"].startswith(f"{number}-"))
    assert asked["priority"] == priority


@pytest.mark.parametrize("serve", ["slurm:cpus=cpu"], indirect=True)
def test_jobs_without_gpus_have_a_partition_of_their_own(cluster, serve):
    cluster.client("scontrol", "create", "partitionname=cpu", "nodes=ALL", "state=UP")
    try:
        number = serve.submit("", script="#!/bin/bash\ntrue\n")
        serve.ended(number, "COMPLETED")
        assert cluster.jobs()[number]["Partition"] == "cpu"
    finally:
        cluster.clear()
        cluster.client("scontrol", "delete", "partitionname=cpu")


def test_cores_of_others_leave_gpus_that_have_one(cluster, serve):
    by_root(cluster, "--nodelist=n1", "--ntasks=14")
    wait_until(lambda: {node["node"]: node["taken"] for node in serve.status()["nodes"]}["n1"] == 2,
               lambda: f"two of n1's GPUs to be without a core: {serve.status()['nodes']}")


def test_a_reservation_of_cores_leaves_the_gpus_of_a_node(cluster, serve):
    cluster.client("scontrol", "create", "reservation", "reservationname=r", "starttime=now", "duration=60", "nodes=n1",
                   "corecnt=13", "users=root")
    try:
        wait_until(lambda: {node["node"]: node["taken"] for node in serve.status()["nodes"] if node["taken"]} == {"n1": 1},
                   lambda: f"one of four GPUs to be without a core: {serve.status()['nodes']}")
    finally:
        cluster.client("scontrol", "delete", "reservationname=r")


@pytest.mark.parametrize(("option", "nodes"), [("--constraint=nvlink", {"n2"}), ("--exclude=n1,n4", {"n2", "n3"})])
def test_an_elastic_job_keeps_to_the_nodes_that_it_asks_for(serve, option, nodes):
    other = serve.submit("allot min=1 max=3", *LONG)
    serve.training(other, 3)
    number = serve.submit("allot min=1 max=20", *LONG, options=(option,))
    assert set(serve.training(number, 4)["nodes"]) == nodes
    seen = serve.job(number)
    assert set(seen["nodes"]) == nodes and seen["max"] == 4 * len(nodes), seen


def test_a_job_of_one_size_begins_where_it_may(cluster, serve):
    number = serve.submit("", options=("--gres=gpu:2", "--constraint=nvlink"), script=TASK)
    (serve.home / "end").touch()
    serve.ended(number, "COMPLETED")
    assert cluster.jobs()[number]["NodeList"] == "n2"
    assert "scheduler does not start it" not in serve.log()


def test_what_no_node_has_is_told_to_its_user(cluster, serve):
    number = serve.submit("allot min=5 max=8", *LONG, options=("--constraint=nvlink",))
    reason = "a job of at least 5 GPUs may run on nodes that have 4 of one type (--constraint=nvlink)"
    wait_until(lambda: (serve.job(number) or {}).get("reason") == reason, lambda: f"the reason: {serve.job(number)}")
    wait_until(lambda: reason in cluster.client("scontrol", "show", "job", str(number), user=USER), "its user to be told")


# Takes longer than 10 s: Slurm stops workers, drains nodes and resumes them.
def test_time_without_gpus_is_not_a_jobs_own(cluster, serve):
    number = serve.submit("allot min=1 max=1", *LONG, options=("--time=30",))
    job = serve.training(number)
    assert cluster.jobs()[number]["TimeLimit"] == "00:30:00"
    names = ",".join(name for name, *_ in ONE_TYPE)
    cluster.client("scontrol", "update", f"nodename={names}", "state=drain", "reason=test")
    try:
        wait_until(lambda: cluster.jobs()[number]["TimeLimit"] == "00:31:00",
                   lambda: f"a minute more: {cluster.jobs()[number]['TimeLimit']}\n{serve.log()[-3000:]}")
    finally:
        cluster.resume(*(name for name, *_ in ONE_TYPE))
    serve.training(number, behind=job["step"])
    assert cluster.jobs()[number]["JobState"] == "RUNNING"
