"""`allot serve` on a Slurm whose prologs and epilogs take seconds, or fail."""

import pytest

import cluster as slurm
from allot_on_slurm import LONG, Serve, why_not
from waiting import json_of, wait_until

NODES = (("n1", 16, "v100", 4), ("n2", 16, "v100", 2))


@pytest.fixture(scope="module")
def cluster(program, tmp_path_factory):
    if why_not(program):
        pytest.skip(why_not(program))
    folder = tmp_path_factory.mktemp("scripts")
    for name, text in (("prolog", f'sleep 2; [ "$SLURMD_NODENAME" != n2 ] || [ ! -e {folder}/fail ]'), ("epilog", "sleep 2")):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    with slurm.throw_away(nodes=NODES, settings={"Prolog": folder / "prolog", "Epilog": folder / "epilog"}) as one:
        one.fail = folder / "fail"
        yield one


@pytest.fixture
def serve(program, cluster, tmp_path):
    one = Serve(program, cluster, tmp_path)
    one.start()
    yield one
    one.kill()
    cluster.clear()


def started(serve):
    """Workers that the daemon ever asked for."""
    return [worker["worker"] for record in json_of(serve.state / "journal.jsonl") if record["what"] == "start"
            for worker in record["workers"]]


# Takes longer than 10 s: prologs and epilogs take 2 s each.
def test_seconds_before_and_after_a_worker_are_no_fault_of_it(serve):
    number = serve.submit("allot min=1 max=6", *LONG)
    job = serve.training(number, 6)
    assert len(started(serve)) == 6, "none was late"
    short = serve.submit("", options=("--gres=gpu:2",), script="#!/bin/bash\ntrue\n")  # it gives two of them
    serve.ended(short, "COMPLETED")
    serve.training(number, 6, behind=job["step"], epoch=job["epoch"] + 1)
    status = serve.status()
    assert status["workers_failed"] == 0 and "scheduler does not start it" not in serve.log(), serve.log()[-3000:]
    assert sum(serve.cluster.gpus_in_use().values()) == 6


def test_a_job_of_one_size_ends_on_a_drained_node_as_anywhere(serve):
    """While its epilog runs it is neither running nor over: nothing of it is to be taken back, and Slurm is asked for nothing."""
    number = serve.submit("", options=("--gres=gpu:1",), script="#!/bin/bash\nuntil [ -e end ]; do sleep 0.1; done\n")
    node, = serve.training(number, 1, behind=-1, epoch=-1)["nodes"]
    assert serve.say("drain", "--node", node).returncode == 0
    (serve.home / "end").touch()
    assert serve.over(number)["state"] == "finished"
    assert "refuses" not in serve.log(), serve.log()
    assert not [record for record in json_of(serve.state / "journal.jsonl") if record["what"] in ("take", "stop")]


def test_a_node_whose_prolog_fails_is_left_and_the_job_trains_on(serve):
    serve.cluster.fail.touch()
    try:
        number = serve.submit("allot min=1 max=6", *LONG)
        assert set(serve.training(number, 4)["nodes"]) >= {"n1"}
        wait_until(lambda: {node["node"]: node["up"] for node in serve.status()["nodes"]} == {"n1": True, "n2": False},
                   lambda: f"n2 to be out: {serve.status()['nodes']}\n{serve.log()[-3000:]}")
        wait_until(lambda: serve.job(number)["nodes"] == {"n1": 4}, lambda: f"n2 to be left: {serve.job(number)}")
        serve.training(number, 4, behind=serve.job(number)["step"])
        assert "node n2 is drained" in serve.log(), "by Slurm"
    finally:
        serve.cluster.fail.unlink()
        serve.cluster.resume("n2")
