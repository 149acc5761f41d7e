"""GPUs of two types on a real Slurm: what jobs ask for, what Slurm is asked for, what workers are told."""

import json
import os
import re
import subprocess
import urllib.request
from pathlib import Path

import pytest

import cluster as slurm
from probe import Probe
from waiting import lines_of, text_of, wait_until

USER = "nobody" if os.getuid() == 0 else None
# One node of each type, and one with GPUs of both.
NODES = (("a1", 16, "a100", 4), ("v1", 16, "v100", 4), ("m1", 16, {"a100": 2, "v100": 2}, 4))
WRITES = '#!/bin/bash\necho "gpus $CUDA_VISIBLE_DEVICES on $SLURMD_NODENAME" >>log\ntrap "exit 1" TERM\nsleep 600 & wait\n'


@pytest.fixture(scope="module")
def tools(program):
    if slurm.missing():
        pytest.skip(slurm.missing())
    paths = {"probe": program.parent / "tests" / "runtime_probe", "launcher": program.parent / "allot-elastic",
             "train": program.parent / "examples" / "elastic_counter", "allot": program}
    for path in paths.values():
        if not os.access(path, os.X_OK):
            pytest.skip(f"not built: {path} (needs libslurm)")
    return paths


@pytest.fixture(scope="module")
def cluster(tools):
    with slurm.throw_away(NODES) as one:
        yield one


@pytest.fixture(scope="module")
def whole_nodes(tools):
    """A cluster whose nodes have GPUs of one type each."""
    with slurm.throw_away(NODES[:2]) as one:
        yield one


def submitter(cluster, tools):
    """submit("types=a100"): sbatch of an elastic job, or of a script, as a user; Slurm's number."""
    def run(comment, script=None, options=(), steps=1000000):
        run.folder = cluster.folder.parent / f"home{len(list(cluster.folder.parent.iterdir()))}"
        run.folder.mkdir()
        run.folder.chmod(0o1777)
        (run.folder / "train.sh").write_text(script or
            f'#!/bin/bash\n"{tools["launcher"]}" run -- "{tools["train"]}" --steps {steps} --pace-ms 20\n')
        return int(cluster.client("sbatch", "--parsable", f"--comment={comment}", *options, "train.sh", user=USER,
                                  cwd=run.folder))
    return run


def probing(cluster, tools, state):
    one = Probe(cluster, tools, state)
    yield one
    one.kill()
    cluster.clear()


@pytest.fixture
def submit(cluster, tools):
    return submitter(cluster, tools)


@pytest.fixture
def submit_to_whole_nodes(whole_nodes, tools):
    return submitter(whole_nodes, tools)


@pytest.fixture
def probe(cluster, tools, tmp_path):
    yield from probing(cluster, tools, tmp_path / "state")


@pytest.fixture
def probe_of_whole_nodes(whole_nodes, tools, tmp_path):
    yield from probing(whole_nodes, tools, tmp_path / "state")


def asked(cluster, number):
    """What Slurm was asked for, and what it gave: ("gres:gpu:a100:2", "gpu:a100:2(IDX:0-1)")."""
    job = cluster.jobs()[number]
    return job["TresPerNode"], job.get("GRES")


def placed(probe, job, worker, node, gpus):
    wait_until(lambda: probe.ask("start", job, f"{worker} {node} {gpus:x}")["ok"] or probe.look() and False, f"{job} to be placed")
    return probe.until(worker, "ready")


def moved(probe, job, worker, node, gpus, away):
    """Stops a job that is resized by a restart and places it on GPUs of another node."""
    probe.do("stop", away, "save")
    wait_until(lambda: away not in probe.look()["workers"], "the job to have been requeued")
    return placed(probe, job, worker, node, gpus)


def ran(submit, times):
    """What the script WRITES wrote, once it ran so often."""
    return wait_until(lambda: len(lines := lines_of(submit.folder / "log")) >= times and lines, f"its script to run {times} times")


def test_nodes_are_shown_by_type(probe):
    nodes = {name: (node["type"], node["gpus"]) for name, node in probe.look()["nodes"].items()}
    assert nodes == {"a1": ("a100", 4), "v1": ("v100", 4), "m1:a100": ("a100", 2), "m1:v100": ("v100", 2)}


def test_workers_of_an_elastic_job_get_gpus_of_the_type_of_their_node(cluster, probe, submit):
    number = submit("allot max=4 types=a100|v100")
    job = probe.job(number)
    assert probe.look()["jobs"][job]["types"] == "a100|v100"
    workers = probe.start(job, ("a1", 2), ("v1", 1), ("m1:v100", 1))
    for worker in workers:
        probe.until(worker, "ready")
    given = {record["JobName"]: record for record in cluster.jobs().values() if record["JobName"].endswith(f"-of-{number}")}
    kinds = [given[f"w{worker.rsplit('.', 1)[1]}-of-{number}"] for worker in workers]
    assert [record["TresPerNode"] for record in kinds] == ["gres:gpu:a100:1", "gres:gpu:v100:1", "gres:gpu:v100:1"]
    assert [record["NodeList"] for record in kinds] == ["a1", "v1", "m1"]
    # The third and fourth GPU of m1 are its v100s.
    assert [re.search(r"IDX:(\d)", record["GRES"])[1] for record in kinds] == ["0", "0", "2"]
    told = [dict(line.split("=", 1) for line in environment(cluster, record)) for record in kinds]
    assert [one["CUDA_VISIBLE_DEVICES"] for one in told] == ["0", "0", "2"]
    assert [one["ALLOT_GPU_TYPE"] for one in told] == ["a100", "v100", "v100"]
    assert [probe.look()["workers"][worker]["node"] for worker in workers] == ["a1", "v1", "m1:v100"]
    probe.kill()  # the next daemon knows them by Slurm's records
    probe.open()
    assert [probe.until(worker, "ready")["node"] for worker in workers] == ["a1", "v1", "m1:v100"]


def environment(cluster, record):
    """Of the process that a worker job runs: its ALLOT_GPU_TYPE and CUDA_VISIBLE_DEVICES."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if f"SLURM_JOB_ID={record['JobId']}" in words and f"SLURM_CONF={cluster.conf}" in words \
                and any(word.startswith("ALLOT_WORKER_ID=") for word in words):
            return [word for word in words if word.split("=")[0] in ("CUDA_VISIBLE_DEVICES", "ALLOT_GPU_TYPE")]
    return []


def test_a_job_is_restarted_on_the_other_type(probe_of_whole_nodes, submit_to_whole_nodes):
    probe, submit, cluster = probe_of_whole_nodes, submit_to_whole_nodes, probe_of_whole_nodes.cluster
    number = submit("allot gpus=2 max=4 resize=restart types=a100|v100", WRITES, ("--gres=gpu:2",))
    job = probe.job(number)
    assert probe.look()["jobs"][job]["types"] == "a100|v100"
    placed(probe, job, f"{job}.0", "v1", 0x3)
    assert asked(cluster, number) == ("gres:gpu:2", "gpu:v100:2(IDX:0-1)")
    ran(submit, 1)  # Slurm calls a job running before its script runs: moved now, it would never have
    moved(probe, job, f"{job}.1", "a1", 0xf, f"{job}.0")
    assert asked(cluster, number) == ("gres:gpu:4", "gpu:a100:4(IDX:0-3)")
    assert ran(submit, 2) == ["gpus 0,1 on v1", "gpus 0,1,2,3 on a1"]


def test_a_job_of_one_type_keeps_it(cluster, probe, submit):
    number = submit("allot gpus=2 max=4 resize=restart", WRITES, ("--gres=gpu:v100:2",))
    job = probe.job(number)
    assert probe.look()["jobs"][job]["types"] == "v100"
    refused = probe.answer("start", job, f"{job}.0 a1 3")
    assert not refused["ok"] and "asks for 'gres:gpu:v100:2', a1 has 'a100'" in refused["why"]
    placed(probe, job, f"{job}.1", "v1", 0xf)
    assert asked(cluster, number) == ("gres:gpu:v100:4", "gpu:v100:4(IDX:0-3)")
    ran(submit, 1)
    moved(probe, job, f"{job}.2", "m1:v100", 0x3, f"{job}.1")
    assert asked(cluster, number) == ("gres:gpu:v100:2", "gpu:v100:2(IDX:2-3)")
    assert ran(submit, 2) == ["gpus 0,1,2,3 on v1", "gpus 2,3 on m1"]


@pytest.mark.parametrize(("comment", "gres", "reason"), [
    ("allot resize=restart types=a100|v100", "gpu:v100:2",
     "a job that names types in its comment must ask for GPUs without one (--gres=gpu:2), got types=a100|v100 and "
     "'gres:gpu:v100:2'"),
    ("", "gpu:2",
     "a job that is not elastic must name the type of its GPUs here (--gres=gpu:TYPE:2), as node m1 has several, got "
     "'gres:gpu:2'")])
def test_what_slurm_cannot_give_is_told_to_the_user(cluster, probe, submit, comment, gres, reason):
    number = submit(comment, WRITES, (f"--gres={gres}",))
    seen = probe.look()["jobs"][probe.job(number)]
    assert (seen["state"], seen["reason"]) == ("held", reason)
    wait_until(lambda: probe.look() and reason in cluster.client("scontrol", "show", "job", str(number), user=USER),
               "its user to be told")


@pytest.mark.parametrize("policy", ["las", "optimus", "index", "shared:sharing=isolated"])
def test_policies_serve_jobs_on_the_types_that_they_accept(cluster, tools, submit, tmp_path, policy):
    state = tmp_path / "state"
    with (tmp_path / "serve.log").open("w") as log:
        daemon = subprocess.Popen([tools["allot"], "serve", "--runtime", f"slurm:launcher={tools['launcher']}",
                                   "--policy", policy, "--state", state, "--interval", "0.5", "--poll", "0.05",
                                   "--metrics", "tcp:127.0.0.1:0"], env=cluster.environment, stdout=log, stderr=log)

    def say(*words):
        return subprocess.run([tools["allot"], *words, "--state", state], capture_output=True, text=True, timeout=120)

    def status():
        done = say("status", "--json")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def job(number):
        return next((one for one in (status() or {"jobs": []})["jobs"] if one["job"].startswith(f"{number}-")), None)

    def why():
        return f"{status()}\n{text_of(tmp_path / 'serve.log')[-3000:]}"

    try:
        wait_until(status, lambda: f"a daemon that answers: {why()}")
        numbers = {types: submit(f"allot max=2 types={types}") for types in ("a100", "v100", "a100|v100")}
        nowhere = submit("allot max=2 types=h100")
        held = {types: wait_until(lambda number=number: (j := job(number)) and j["held"] and j["stage"] == "training" and j,
                                  lambda: f"{types} to train: {why()}") for types, number in numbers.items()}
        for types, one in held.items():
            assert one["type"] in types.split("|"), one
            for node in one["nodes"]:
                assert one["type"] == {"a1": "a100", "v1": "v100", "m1:a100": "a100", "m1:v100": "v100"}[node], one
        lost = wait_until(lambda: job(nowhere), why)
        assert lost["stage"] == "fits nowhere" and "accepts 'h100', the cluster has" in lost["reason"]
        wait_until(lambda: lost["reason"] in cluster.client("scontrol", "show", "job", str(nowhere)), "its user to be told")
        text = say("status").stdout
        assert re.search(r"GPUs \(a100 \d of 6, v100 \d of 6\)", text) and "accepts 'h100'" in text, text
        assert "h100" in say("queue").stdout
        address = wait_until(lambda: re.search(r"metrics at tcp:(\S+)\n", text_of(tmp_path / "serve.log")), "the address")[1]
        metrics = urllib.request.urlopen(f"http://{address}/metrics", timeout=120).read().decode()
        assert 'allot_gpus_up{type="a100"} 6' in metrics and 'allot_gpus_up{type="v100"} 6' in metrics
    finally:
        daemon.kill()
        daemon.wait()
        cluster.clear()
