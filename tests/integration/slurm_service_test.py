"""`allot serve` as clusters run it: slurmctld and the daemon as a service user, slurmd as root, jobs of another user."""

import json
import pwd
import re
import shutil
import subprocess

import pytest

import cluster as slurm
from allot_on_slurm import LONG, USER, Serve, why_not
from waiting import wait_until

SERVICE = "daemon"  # of every Debian
NODES = (("n1", 16, "v100", 4),)

pytestmark = pytest.mark.skipif(USER is None, reason="needs root, for a service user and a user of the cluster")


@pytest.fixture(scope="module")
def cluster(program):
    if why_not(program):
        pytest.skip(why_not(program))
    with slurm.throw_away(nodes=NODES, service=SERVICE) as one:
        yield one


def account(name):
    found = pwd.getpwnam(name)
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}


@pytest.fixture
def daemon(program, cluster, tmp_path):
    """daemon(name, ...): a daemon whose state folder that user has; not started."""
    begun = []

    def make(name=SERVICE, **how):
        folder = cluster.folder.parent / f"{tmp_path.name}{len(begun)}"
        folder.mkdir()
        shutil.chown(folder, name)
        begun.append(Serve(program, cluster, folder, **how, **account(name)))
        return begun[-1]
    yield make
    for one in begun:
        if one.process is not None:
            one.kill()
    cluster.clear()
    for file in (cluster.folder / "state").glob("allot.*"):
        file.unlink()


def serves_another_user(serve):
    """Grows, shrinks, grows again and ends."""
    assert "acquired lease" in serve.log(), serve.log()
    number = serve.submit("allot min=1 max=4", *LONG)
    job = serve.training(number, 4)
    assert serve.cluster.jobs()[serve.workers(number)[0]]["UserId"].startswith(f"{USER}(")
    other = serve.submit("allot min=2 max=2", *LONG)
    serve.training(other, 2)
    wait_until(lambda: serve.job(number)["held"] == 2, lambda: f"it to shrink: {serve.job(number)}")
    assert serve.say("cancel", str(other)).returncode == 0
    serve.ended(other, "CANCELLED")
    serve.training(number, 4, behind=job["step"])
    assert serve.say("cancel", str(number)).returncode == 0
    serve.ended(number, "CANCELLED")
    wait_until(lambda: not serve.workers(number), "its workers to be ended")


def test_slurm_user_serves_the_jobs_of_others(cluster, daemon, program):
    if not list(program.parent.glob("liballot_slurm-*.so")):
        pytest.skip("built without libslurm: by Slurm's programs only root may submit for others")
    serve = daemon()
    serve.start()
    owners = {file.stat().st_uid for file in (cluster.folder / "state").glob("allot.*")}
    assert owners == {pwd.getpwnam(SERVICE).pw_uid}
    serves_another_user(serve)


def test_an_installation_serves_the_jobs_of_others(cluster, daemon, program, cache):
    """With nothing from the build but the training program: docs/deploy.md, Install."""
    del cache  # where there is none, nothing is installed
    if not list(program.parent.glob("liballot_slurm-*.so")):
        pytest.skip("built without libslurm")
    prefix = cluster.folder.parent / "installed"
    for component in ("daemon", "slurm", "jobs", "jobs-torch"):
        subprocess.run(["cmake", "--install", program.parent, "--prefix", prefix, "--component", component], check=True,
                       capture_output=True)
    serve = daemon()
    serve.program = prefix / "bin" / "allot"
    serve.policy = f"learned:checkpoint={prefix}/share/allot/checkpoints/philly-elastic/accepted"
    serve.start()
    assert "libslurm: liballot_slurm-" in serve.log(), serve.log()
    train = program.parent / "examples" / "elastic_mlp"
    number = serve.submit("allot min=1 max=4", script=f'#!/bin/bash\n{prefix}/bin/allot-elastic run -- {train} --steps 200\n')
    serve.training(number)
    serve.ended(number, "COMPLETED")
    checks = subprocess.run([serve.program, "doctor", "--json", "--state", serve.state], env=cluster.environment,
                            capture_output=True, text=True, timeout=300, **account(SERVICE))
    assert [one for one in json.loads(checks.stdout)["checks"] if one["health"] == "wrong"] == []


def capabilities(root):
    """Of deploy/systemd/commands.conf."""
    text = (root / "deploy" / "systemd" / "commands.conf").read_text()
    return re.search(r"^CapabilityBoundingSet=(.*)$", text, re.MULTILINE)[1].split()


def test_root_with_the_rights_of_the_service_serves_by_commands(daemon, root):
    """deploy/systemd/commands.conf has as much of root as this needs."""
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv (util-linux)")
    kept = ",".join(["-all", *(f"+{one.lower().removeprefix('cap_')}" for one in capabilities(root))])
    rights = ("setpriv", f"--bounding-set={kept}", f"--inh-caps={kept}", "--no-new-privs")
    serve = daemon("root", runtime="slurm:api=commands,timeout=60", rights=rights)
    serve.start()
    serves_another_user(serve)


def test_a_file_that_root_left_is_named_and_not_gone_without(cluster, daemon):
    """A daemon with another key would lose all workers."""
    first = daemon("root")
    first.start()
    first.kill()
    key = (cluster.folder / "state" / "allot.key").read_bytes()
    second = daemon()
    second.launch()
    assert second.process.wait(120) == 1
    assert re.search(rf"user {pwd.getpwnam(SERVICE).pw_uid} must be able to open '\S+/allot\.\w+'", second.log()), second.log()
    said = subprocess.run([second.program, "doctor", "--runtime", "slurm", "--state", second.state], env=cluster.environment,
                          capture_output=True, text=True, timeout=300, **account(SERVICE))
    assert re.search(r"wrong +slurm\.claim .* must be able to open", said.stdout), said.stdout
    for file in (cluster.folder / "state").glob("allot.*"):
        shutil.chown(file, SERVICE)
    second.start()
    assert (cluster.folder / "state" / "allot.key").read_bytes() == key
