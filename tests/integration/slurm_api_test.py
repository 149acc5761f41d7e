"""The Slurm runtime through Slurm's own programs: on the Slurm that is installed, where libslurm says the same, and on
that of other Debian releases (tests/live/slurm_releases.py), with the program that was built beside this one."""

import json
import os
import subprocess

import pytest

import cluster as slurm
import slurm_releases
from allot_on_slurm import LONG, Serve, why_not
from waiting import wait_until

INSTALLED = "installed"


@pytest.fixture(scope="module", params=[INSTALLED, "trixie", "sid"])
def cluster(request, program):
    folder = None
    if request.param == INSTALLED:
        if slurm.missing():
            pytest.skip(slurm.missing())
    else:
        folder = slurm_releases.there().get(request.param)
        if folder is None:
            pytest.skip(f"Slurm of Debian {request.param} is not there: ./dev slurm {request.param}")
        if os.getuid() != 0:
            pytest.skip("by commands only root may submit for others")
    with slurm.throw_away(release=folder) as one:
        yield one


def suite(program, cluster, tests):
    done = subprocess.run([program.parent / "tests" / "live_runtimes_test", f"--gtest_filter={tests}", "--gtest_brief=1"],
                          capture_output=True, text=True, check=False, timeout=900,
                          env={**cluster.environment, "ALLOT_TEST_SLURM": "1"})
    assert done.returncode == 0, done.stdout[-8000:]
    assert "PASSED" in done.stdout and "SKIPPED" not in done.stdout, done.stdout[-5000:]


# Takes longer than 10 s: each of 29 cases waits for Slurm.
def test_the_runtime_conforms_by_commands(cluster, program):
    """The suite that every runtime passes (tests/unit/live/runtimes)."""
    if cluster.release is None and os.getuid() != 0:
        pytest.skip("by commands only root may submit for others")
    suite(program, cluster, "*slurm_commands*")


def test_both_back_ends_see_the_same(cluster, program):
    if cluster.release is not None:
        pytest.skip("libslurm here is of another release")
    suite(program, cluster, "SlurmBackEnds.*")


def test_a_job_grows_survives_the_daemon_and_ends(cluster, program, tmp_path):
    """Users' jobs of both modes under `allot serve`, killed and started again in between."""
    if why_not(program):
        pytest.skip(why_not(program))
    if os.getuid() != 0:
        pytest.skip("by commands only root may submit for others")
    serve = Serve(program, cluster, tmp_path, runtime="slurm:api=commands,timeout=60")
    serve.start()
    try:
        number = serve.submit("allot min=1 max=4 gpus=2", *LONG, options=("--cpus-per-task=2",))
        step = serve.training(number, gpus=2)["step"]
        serve.kill()
        serve.start()
        serve.training(number, gpus=2, behind=step)
        assert "Slurm through commands: Slurm's programs" in serve.log()
        rigid = serve.submit("allot min=1 max=4 resize=restart", options=("--gres=gpu:1",),
                             script="#!/bin/bash\nexit 0\n")
        serve.ended(rigid, "COMPLETED")
        cluster.client("scancel", str(number))
        wait_until(lambda: not serve.workers(number), lambda: f"its workers to be ended: {serve.log()[-3000:]}")
        wait_until(lambda: not any(cluster.gpus_in_use().values()), "all GPUs to be free")
    finally:
        serve.kill()
        cluster.clear()


def test_the_way_is_chosen_by_the_release(cluster, program, tmp_path):
    """libslurm where its module fits the cluster, else Slurm's programs; `allot doctor` says which and why."""
    built = sorted(program.parent.glob("liballot_slurm-*.so"))
    done = subprocess.run([program, "doctor", "--json", "--runtime", "slurm", "--state", tmp_path / "state"],
                          env=cluster.environment, capture_output=True, text=True, check=False, timeout=300)
    found = {one["check"]: one for one in json.loads(done.stdout)["checks"]}
    said = found["slurm.version"]["seen"]
    assert found["slurm.version"]["health"] == "fine", found
    if cluster.release is None and built:
        assert "through libslurm: " + built[0].name in said
    else:
        assert "through commands: Slurm's programs" in said
