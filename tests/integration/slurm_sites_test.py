"""`allot serve` on a Slurm as sites configure it: memory is allocated, the scripts of jobs have nodes of their own, and output is
not appended (JobFileAppend=0, Slurm's default)."""

import json
import re
import subprocess

import pytest

import cluster as slurm
from allot_on_slurm import LONG, ONE_TYPE, Serve, why_not
from waiting import lines_of, text_of, wait_until


@pytest.fixture(scope="module")
def cluster(program):
    if why_not(program):
        pytest.skip(why_not(program))
    with slurm.throw_away(nodes=ONE_TYPE, settings={
            "SelectTypeParameters": "CR_Core_Memory", "KillWait": 5, "PartitionName": "home Nodes=n4 OverSubscribe=FORCE:50 State=UP"}) as one:
        yield one


@pytest.fixture(params=["slurm"])
def serve(program, cluster, tmp_path, request):
    """Its parameter: the runtime."""
    one = Serve(program, cluster, tmp_path, runtime=request.param)
    yield one
    one.kill()
    cluster.clear()


def allocated(cluster, number):
    """Cores and MiB of a job that runs."""
    cores, memory = re.search(r"cpu=(\d+),mem=(\d+)M", cluster.jobs()[number]["TRES"]).groups()
    return int(cores), int(memory)


def test_jobs_that_ask_for_no_memory_train_side_by_side(cluster, serve):
    """Slurm would give each script and each worker all memory of a node."""
    serve.start()
    numbers = [serve.submit("allot min=1 max=1", *LONG) for _ in range(3)]
    for number in numbers:
        serve.training(number)
    assert {allocated(cluster, number) for number in numbers} == {(1, 512)}


@pytest.mark.parametrize("serve", ["slurm", "slurm:api=commands"], indirect=True)
def test_a_script_holds_one_core_and_its_workers_what_it_asked_for(cluster, serve):
    serve.start()
    number = serve.submit("allot min=1 max=2", *LONG, options=("--cpus-per-task=3", "--mem=3000"))
    serve.training(number, 2)
    assert allocated(cluster, number) == (1, 512)
    assert [allocated(cluster, worker) for worker in serve.workers(number)] == [(3, 3000)] * 2
    serve.kill()  # the next daemon reads what they asked for in Slurm
    serve.start()
    first, *_ = serve.workers(number)
    cluster.client("scancel", str(first))
    wait_until(lambda: len(serve.workers(number)) == 2 and first not in serve.workers(number), serve.log)
    assert all(allocated(cluster, worker) == (3, 3000) for worker in serve.workers(number))


@pytest.mark.parametrize("serve", ["slurm:home=home", "slurm:home=home,api=commands"], indirect=True)
def test_scripts_run_where_the_site_says(cluster, serve):
    """They share its cores, and need none of the features that their workers need."""
    cluster.client("scontrol", "update", "nodename=n1", "availablefeatures=v100,nvlink", "activefeatures=v100,nvlink")
    serve.start()
    number = serve.submit("allot min=1 max=1", *LONG, options=("--constraint=nvlink",))
    assert serve.training(number)["nodes"] == {"n1": 1}
    assert (cluster.jobs()[number]["Partition"], cluster.jobs()[number]["NodeList"]) == ("home", "n4")


def test_a_default_of_the_site_holds_for_workers(cluster, serve):
    cluster.client("scontrol", "update", "partitionname=main", "DefMemPerCPU=400")
    try:
        serve.start()
        number = serve.submit("allot min=1 max=1", *LONG)
        serve.training(number)
        worker, = serve.workers(number)
        assert allocated(cluster, worker) == (1, 400)
    finally:
        cluster.client("scontrol", "update", "partitionname=main", "DefMemPerCPU=0")


def test_doctor_sees_what_jobs_still_depend_on(program, cluster, tmp_path):
    done = subprocess.run([program, "doctor", "--json", "--runtime", "slurm", "--state", tmp_path], env=cluster.environment,
                          capture_output=True, text=True, timeout=120)
    found = {check["check"]: check for check in json.loads(done.stdout)["checks"]}
    for check, advice in (("slurm.memory", "DefMemPerGPU"), ("slurm.output", "JobFileAppend=1"), ("slurm.kill_wait", "KillWait=30")):
        assert found[check]["health"] == "warn" and advice in found[check]["advice"], found[check]


def test_a_restart_keeps_the_output_of_a_job_that_appends(cluster, serve):
    """docs/deploy.md: where JobFileAppend=0, only with --open-mode=append."""
    serve.start()
    script = "#!/bin/bash\n#SBATCH --open-mode=append\necho run $SLURM_RESTART_COUNT\nuntil [ -e end ]; do sleep 0.1; done\n"
    number = serve.submit("allot min=1 max=1 resize=restart", script=script, options=("--gres=gpu:1", "--mem=100"))
    output = serve.home / f"slurm-{number}.out"
    def runs():
        return [line for line in lines_of(output) if line.startswith("run")]
    wait_until(lambda: runs() == ["run"], lambda: text_of(output))
    node, = serve.job(number)["nodes"]
    assert serve.say("drain", "--node", node).returncode == 0
    wait_until(lambda: runs() == ["run", "run 1"], lambda: f"{text_of(output)}\n{serve.log()[-3000:]}")
    (serve.home / "end").touch()
    serve.ended(number, "COMPLETED")
