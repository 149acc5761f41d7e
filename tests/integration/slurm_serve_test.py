"""`allot serve --runtime slurm` in charge of a real Slurm: users' jobs from sbatch to their end, whatever dies."""

import subprocess

import pytest

import cluster as slurm
from allot_on_slurm import LONG, USER, Serve, why_not
from own_clock import OwnClock
from waiting import json_of, text_of, wait_until

KILL_WAIT = 600  # seconds from the end of a job, by SIGTERM, to SIGKILL


@pytest.fixture(scope="module")
def cluster(program):
    if why_not(program):
        pytest.skip(why_not(program))
    with slurm.throw_away(settings={"KillWait": KILL_WAIT}) as one:
        yield one


@pytest.fixture
def serve(program, cluster, tmp_path, request):
    """With a parameter: seconds after which a silent worker is ended."""
    one = Serve(program, cluster, tmp_path, getattr(request, "param", 45))
    one.start()
    yield one
    one.kill()
    cluster.clear()


def test_jobs_share_the_cluster_and_all_finish(serve):
    elastic = [serve.submit("allot min=1 max=3 model=resnet50", "--steps", 250, "--pace-ms", 4) for _ in range(2)]
    rigid = serve.submit("", options=("--gres=gpu:2",), script="#!/bin/bash\necho $CUDA_VISIBLE_DEVICES\n")
    for number in (*elastic, rigid):
        serve.ended(number, "COMPLETED")
    wait_until(lambda: not any(serve.cluster.gpus_in_use().values()), "all GPUs to be free")
    assert [serve.over(number)["state"] for number in (*elastic, rigid)] == ["finished"] * 3
    assert serve.over(elastic[0])["step"] > 0


def test_an_ordinary_job_runs_once_whatever_a_decision_wants(serve):
    number = serve.submit("", options=("--gres=gpu:4", "--no-requeue"),
                          script="#!/bin/bash\necho begun >>log\nuntil [ -e end ]; do sleep 0.1; done\n")
    home = serve.home
    job = serve.training(number, 4, behind=-1, epoch=-1)
    node, = job["nodes"]
    wait_until(lambda: text_of(home / "log"), "its script to run")
    assert serve.say("drain", "--node", node).returncode == 0
    elastic = serve.submit("allot min=1 max=20", *LONG)
    serve.training(elastic, 4)
    assert serve.job(number)["nodes"] == {node: 4}
    (home / "end").touch()
    serve.ended(number, "COMPLETED")
    assert serve.cluster.jobs()[number]["Restarts"] == "0"
    assert text_of(home / "log") == "begun\n"


def test_a_killed_daemon_goes_on_where_it_was(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    workers = serve.workers(number)
    serve.kill()
    serve.start()
    after = serve.training(number, 2, behind=job["step"])
    assert after["epoch"] == job["epoch"]
    assert serve.workers(number) == workers, "none was started twice, none was ended"


def test_a_killed_worker_is_replaced(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    victim = min(serve.workers(number))  # rank 0
    serve.cluster.client("scancel", "--signal=KILL", "--full", str(victim))
    wait_until(lambda: victim not in serve.workers(number), "the worker to be gone")
    serve.training(number, 2, behind=job["step"], epoch=job["epoch"] + 1)


@pytest.mark.parametrize("serve", [5], indirect=True)
def test_a_stopped_worker_is_ended_and_replaced(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    victim = max(serve.workers(number))
    serve.cluster.client("scancel", "--signal=STOP", "--full", str(victim))
    wait_until(lambda: victim not in serve.workers(number), "the silent worker to be ended")
    serve.training(number, 2, behind=job["step"])


# Takes longer than 10 s: slurmctld saves its state every few seconds and takes some to find its nodes.
def test_a_killed_controller_costs_no_job(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    serve.cluster.wait_for_saved_state()
    serve.cluster.kill("slurmctld")
    step = serve.job(number)["step"]
    try:
        wait_until(lambda: serve.job(number)["step"] > step + 50,
                   lambda: f"training without a controller: {serve.job(number)}\n{serve.log()[-3000:]}")
    finally:
        serve.cluster.start_controller()
    wait_until(serve.cluster.controller_answers, "the controller")
    second = serve.submit("allot max=1", "--steps", 20)
    serve.ended(second, "COMPLETED")
    assert serve.job(number)["epoch"] == job["epoch"]


def test_a_clock_that_is_an_hour_off_or_set_back_holds_no_job(program, cluster, tmp_path):
    """Slurm has times of its own: neither when a job begins nor how long a requeued one rests is a matter of the daemon's clock."""
    clock = OwnClock(tmp_path)
    if not clock.can_be_set():
        pytest.skip("libfaketime is not installed")
    serve = Serve(program, cluster, tmp_path)
    serve.environment = clock.environment(cluster.environment)
    clock.set(3600)
    serve.start()
    nodes = [node for node, *_ in cluster.nodes]
    try:
        number = serve.submit("allot min=1 max=1 resize=restart", options=("--gres=gpu:1",),
                              script="#!/bin/bash\ntrap 'exit 1' TERM\necho begun >>log\n"
                                     "until [ -e end ]; do sleep 0.1; done\n")
        wait_until(lambda: text_of(serve.home / "log") == "begun\n", lambda: f"it to begin: {cluster.jobs()[number]}")
        for node in nodes:
            assert serve.say("drain", "--node", node).returncode == 0
        wait_until(lambda: "stopped=" in cluster.client("scontrol", "show", "job", str(number)), "it to wait again")
        clock.set(0)
        for node in nodes:
            assert serve.say("drain", "--node", node, "--undo").returncode == 0
        wait_until(lambda: text_of(serve.home / "log") == "begun\n" * 2, lambda: f"it to begin again: {serve.log()[-2000:]}")
        (serve.home / "end").touch()
        serve.ended(number, "COMPLETED")
    finally:
        serve.kill()
        cluster.clear()


def test_a_script_asks_for_its_plan(daemon):
    daemon.start("--catalogue", "transformers")
    ask = daemon.program.parent / "allot-elastic"
    number = daemon.submit("allot min=2 max=2 gpus=2 resize=restart model=gpt-125m", options=("--gres=gpu:2",),
                           script=f'#!/bin/bash\n"{ask}" plan >plan\n"{ask}" plan --for megatron >options\n')
    daemon.ended(number, "COMPLETED")
    given, = [record["plan"] for record in json_of(daemon.state / "journal.jsonl") if record["what"] == "give"]
    assert text_of(daemon.home / "plan") == given + "\n" and given.startswith("dp=2 tp=1 ")
    assert text_of(daemon.home / "options").startswith("--tensor-model-parallel-size 1 ")


def test_a_restart_is_no_fault_to_warn_of(serve):
    """Nor does the job wait for anybody meanwhile: the hold that Slurm shows is a part of the requeue."""
    number = serve.submit("allot min=1 max=1 resize=restart", options=("--gres=gpu:1",),
                          script="#!/bin/bash\ntrap 'sleep 2; exit 1' TERM\necho begun >>log\nuntil [ -e end ]; do sleep 0.1; done\n")
    wait_until(lambda: text_of(serve.home / "log") == "begun\n", lambda: f"it to begin: {serve.job(number)}")
    node, = serve.job(number)["nodes"]
    assert serve.say("drain", "--node", node).returncode == 0
    reasons = set()

    def begun_again():
        reasons.add(serve.job(number)["reason"])
        return text_of(serve.home / "log") == "begun\n" * 2
    wait_until(begun_again, lambda: f"it to begin elsewhere: {serve.log()[-2000:]}")
    assert not [reason for reason in reasons if "Held" in reason], reasons
    (serve.home / "end").touch()
    serve.ended(number, "COMPLETED")
    assert not [line for line in serve.log().splitlines() if " warning " in line]
    why, = {record["why"] for record in json_of(serve.state / "journal.jsonl") if record["what"] == "take"}
    assert why == "a node of it is drained"


@pytest.mark.skipif(USER is None, reason="only root writes what the daemon writes into jobs of others")
def test_what_a_forgetful_controller_brings_back_of_a_job_that_is_over_is_ended(serve):
    """It was killed after the end of a worker and before it wrote that down: its GPU would be held for ever."""
    number = serve.submit("allot max=1", "--steps", 20)
    serve.ended(number, "COMPLETED")
    name = serve.over(number)["job"]
    wait_until(lambda: any(r["what"] == "retire" and r["job"] == name for r in json_of(serve.state / "journal.jsonl")),
               "the daemon to forget it")
    back = int(serve.cluster.client("sbatch", "--parsable", f"--uid={USER}", "--partition=main", "--gres=gpu:1", "--hold",
                                    "--output=/dev/null", "--wrap=sleep 1000"))
    serve.cluster.client("scontrol", "update", f"jobid={back}",
                         f"admincomment=elastic-of:{number} job={name} worker={name}.7 gpus=1")
    serve.cluster.client("scontrol", "release", str(back))
    serve.ended(back, "CANCELLED")


def test_a_killed_script_ends_its_job(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    serve.training(number, 2)
    serve.cluster.client("scancel", "--signal=KILL", "--batch", str(number))
    serve.ended(number, "FAILED")
    wait_until(lambda: not serve.workers(number), "its workers to end")
    assert serve.over(number)["state"] == "failed"


def test_a_node_that_dies_for_good_is_left_and_not_given(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    node = next(iter(job["nodes"]))

    def seen():
        return next(one for one in serve.status()["nodes"] if one["node"] == node)
    serve.cluster.kill(f"slurmd-{node}")
    serve.cluster.client("scontrol", "update", f"nodename={node}", "state=down", "reason=died")  # no SlurmdTimeout
    try:
        wait_until(lambda: node not in (serve.job(number) or {"nodes": node})["nodes"], f"{node} to be left")
        serve.training(number, 2, behind=job["step"])
        assert not seen()["up"]
        wait_until(lambda: seen()["held"] == 0 and serve.cluster.gpus_in_use()[node] == 0, lambda: f"nothing to be on it: {seen()}")
    finally:
        serve.cluster.start_node(node)
        serve.cluster.resume(node)
    wait_until(lambda: seen()["up"], f"{node} to be back")


def test_a_cancelled_job_takes_its_workers_with_it(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    serve.training(number, 2)
    serve.cluster.client("scancel", str(number), user=USER)
    wait_until(lambda: not serve.workers(number), "its workers to end")
    wait_until(lambda: not any(serve.cluster.gpus_in_use().values()), "its GPUs to be free")


def test_a_job_whose_script_ends_slowly_is_over_at_once(serve):
    counter = f'"{serve.program.parent}/examples/elastic_counter" --steps 1000000 --pace-ms 20'
    number = serve.submit("allot min=2 max=2",
                          script=f'#!/bin/bash\ntrap "" TERM\n"{serve.program.parent}/allot-elastic" run -- {counter} &\n'
                                 'until [ -e end ]; do sleep 0.1; done\n')
    serve.training(number, 2)
    serve.cluster.client("scancel", str(number), user=USER)
    try:
        assert serve.over(number)["state"] == "cancelled"  # else not before KILL_WAIT, for which nothing here waits
    finally:
        (serve.home / "end").touch()


def test_a_drained_node_is_left(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    node = next(iter(job["nodes"]))
    serve.cluster.client("scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
    try:
        wait_until(lambda: serve.cluster.gpus_in_use()[node] == 0, f"{node} to be left")
        serve.training(number, 2, behind=job["step"])
    finally:
        serve.cluster.resume(node)


def test_an_added_node_is_given(serve):
    def held(node):
        return next((seen["held"] for seen in serve.status()["nodes"] if seen["node"] == node), None)

    others = [node for node, *_ in slurm.NODES if node != "n3"]
    serve.cluster.client("scontrol", "update", f"nodename={','.join(others)}", "state=drain", "reason=test")
    try:
        wait_until(lambda: [seen["node"] for seen in serve.status()["nodes"] if seen["up"]] == ["n3"], "three to be down")
        counter = f'"{serve.program.parent}/examples/elastic_counter" --steps 1000000 --pace-ms 20'
        number = serve.submit("allot min=1 max=6",
                              script=f'#!/bin/bash\n"{serve.program.parent}/allot-elastic" run -- {counter}\n')
        job = serve.training(number, 4)
        assert held("n5") is None
        serve.cluster.add_node()
        try:
            serve.training(number, 6, behind=job["step"], epoch=job["epoch"] + 1)
            assert held("n5") == 2
        finally:
            serve.cluster.client("scancel", str(number))
            wait_until(lambda: not serve.cluster.client("squeue", "--noheader"), "it to have left")
            serve.cluster.remove_node()
    finally:
        serve.cluster.resume(*others)


def test_a_second_daemon_refuses(serve):
    done = subprocess.run([serve.program, "serve", "--runtime", "slurm", "--state", serve.state],
                          env=serve.cluster.environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "one daemon a state folder" in done.stderr
