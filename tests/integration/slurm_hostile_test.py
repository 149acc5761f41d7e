"""A user of the cluster against the daemon and the other users, on a real Slurm: docs/security.md line by line."""

import json
import os
import re
import socket
import subprocess
import urllib.request

import pytest

import cluster as slurm
from allot_on_slurm import LONG, USER, Serve
from waiting import json_of, wait_until

ESCAPES = 'a\nwarning forged\x1b[2J"\\%s%n{}{0}$(touch x)`;\'</b>'
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}

pytestmark = pytest.mark.skipif(USER is None, reason="needs root, for a user who is not the daemon's")


@pytest.fixture
def home(cluster, tmp_path):
    """A folder of the user's, without a daemon."""
    one = cluster.folder.parent / tmp_path.name
    one.mkdir()
    one.chmod(0o1777)
    yield one
    cluster.clear()


@pytest.fixture
def serve(program, cluster, tmp_path):
    one = Serve(program, cluster, tmp_path)
    one.start("--metrics", "tcp:127.0.0.1:0")
    yield one
    one.kill()
    cluster.clear()


def refused(cluster, *words, why=None, cwd=None):
    with pytest.raises(slurm.ClusterError, match=why):
        cluster.client(*words, user=USER, cwd=cwd or cluster.folder)


@pytest.mark.parametrize("form", ["--exclusive=user", "--exclusive=mcs", "--mem=0", "--mem-per-cpu=0"])
def test_whole_nodes_are_refused(cluster, home, form):
    refused(cluster, "sbatch", form, "--comment=allot min=1", "--wrap=sleep 60", why="not whole nodes", cwd=home)


def test_a_user_may_hold_and_rename_but_not_enlarge_his_job(cluster, home):
    number = cluster.client("sbatch", "--parsable", "--comment=allot min=1", "--wrap=sleep 60", user=USER, cwd=home).strip()
    for change in ("comment=allot min=1 max=2", "jobname=other", "timelimit=5", "nice=5"):
        cluster.client("scontrol", "update", f"jobid={number}", change, user=USER)
    for word in ("hold", "release"):
        cluster.client("scontrol", word, number, user=USER)
    assert cluster.jobs()[int(number)]["JobName"] == "other"
    for change in ("numnodes=2", "minmemorynode=0", "oversubscribe=no", "numcpus=16", "numtasks=16", "cpuspertask=16",
                   "contiguous=1", "features=v100", "excnodelist=n1", "nodelist=n1", "gres=gpu:2", "tresperNode=gres:gpu:2",
                   "partition=main", "nice=-5", "priority=9", "admincomment=allot job=1-1", "reservationname=r"):
        refused(cluster, "scontrol", "update", f"jobid={number}", change)
    for word in ("suspend", "top"):
        refused(cluster, "scontrol", word, number)


def test_another_ones_job_is_out_of_reach(cluster, home):
    number = cluster.client("sbatch", "--parsable", "--comment=allot min=1", "--wrap=sleep 60", cwd=home).strip()  # root's
    refused(cluster, "scancel", number)
    for words in (("update", f"jobid={number}", "comment=allot min=4"), ("hold", number), ("requeue", number)):
        refused(cluster, "scontrol", *words)


def test_steps_inside_of_a_job_get_its_gpus_and_no_more(serve):
    script = """#!/bin/bash
for gpus in 1 2; do
  timeout 20 srun --overlap --gres=gpu:$gpus sh -c 'echo "step $CUDA_VISIBLE_DEVICES"' > step-$gpus 2>&1 || echo refused >> step-$gpus
done
echo "job $CUDA_VISIBLE_DEVICES" > all
sleep 1000
"""
    serve.submit("ordinary", options=("--gres=gpu:1",), script=script)
    wait_until(lambda: (serve.home / "all").exists(), lambda: f"its steps: {serve.log()[-2000:]}")
    own = (serve.home / "all").read_text().split()[1:]
    assert len(own) == 1
    assert (serve.home / "step-1").read_text().split()[1:] == own
    assert "refused" in (serve.home / "step-2").read_text()
    assert sum(serve.cluster.gpus_in_use().values()) == 1


def test_names_and_comments_are_text_and_nothing_else(serve):
    named = serve.submit("allot min=1 max=1", *LONG, options=(f"--job-name={ESCAPES}",))
    wrong = serve.submit("allot min=1 \x1b[31mforged\r=1", *LONG, options=(f"--job-name={ESCAPES}",))
    serve.training(named)
    wait_until(lambda: (serve.job(wrong) or {}).get("reason"), lambda: f"the comment to be refused: {serve.log()[-2000:]}")
    said = serve.say("status").stdout
    for text in (said, serve.log()):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text), repr(text)
    assert "\\x1b[31mforged" in said, said
    assert not any(line.startswith("warning forged") for line in serve.log().splitlines())
    names = {record["name"] for record in json_of(serve.state / "journal.jsonl") if record["what"] == "job"}
    assert names == {ESCAPES}
    address = re.search(r"metrics at tcp:(\S+)\n", serve.log())[1]
    metrics = urllib.request.urlopen(f"http://{address}/metrics", timeout=120).read().decode()
    sample = re.compile(r'(#.*|[a-z_]+(\{([a-z_]+="([^"\\\n]|\\.)*",?)*\})? \S+)')
    assert all(sample.fullmatch(line) for line in metrics.splitlines())


def test_a_flood_of_long_jobs_leaves_others_their_turn(serve):
    jobs = 60
    script = serve.cluster.folder.parent / "flood.sh"
    script.write_text(f"""for i in $(seq {jobs}); do
  sbatch --quiet --comment="allot min=1 max=1 $(printf 'x%.0s' $(seq 900))=1" --job-name="$(printf 'n%.0s' $(seq 900))" \
    --output=/dev/null --wrap="sleep 1000" || exit 1
done""")
    serve.cluster.client("sh", script, user=USER)
    wait_until(lambda: len(serve.status()["jobs"]) == jobs, "all of them to be seen")
    number = serve.submit("allot min=1 max=4", *LONG)
    serve.training(number, 4)
    assert (serve.state / "journal.jsonl").stat().st_size < 8192 * (jobs + 10)
    address = re.search(r"metrics at tcp:(\S+)\n", serve.log())[1]
    assert len(urllib.request.urlopen(f"http://{address}/metrics", timeout=120).read()) < 64 * 1024


def test_a_stranger_reads_and_says_nothing(serve, program):
    """As another user: not the state folder's files, not the control socket, not by the program."""
    serve.submit("allot min=1 max=1", *LONG)
    for words in (("status",), ("cancel", "1"), ("pause",), ("drain",)):
        done = subprocess.run([program, *words, "--state", serve.state], capture_output=True, text=True, timeout=300, cwd="/",
                              env={**os.environ, "HOME": "/"}, **NOBODY)
        assert done.returncode == 1 and "no daemon answers" in done.stderr, (words, done)
    open_one = f"open({str(serve.state / 'journal.jsonl')!r})"
    done = subprocess.run(["/usr/bin/python3", "-c", open_one], capture_output=True, text=True, timeout=300, cwd="/", **NOBODY)
    assert "PermissionError" in done.stderr, done
    status = serve.status()
    assert not status["paused"] and not status["drained"]
    address = re.search(r"metrics at tcp:(\S+)\n", serve.log())[1]
    host, port = address.rsplit(":", 1)
    for said in (b"\0" * 100_000, b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", b"POST /metrics HTTP/1.1\r\n\r\n"):
        heard = b""
        with socket.create_connection((host, int(port)), timeout=300) as stranger:
            try:
                stranger.sendall(said)
                heard = stranger.recv(4096)
            except OSError:
                pass  # it was closed while it spoke
        assert b"200 OK" not in heard
    assert json.dumps(status).count("ALLOT_TOKEN") == 0


def test_a_user_who_requeues_his_own_job_takes_no_gpus_with_it(serve):
    number = serve.submit("allot min=1 max=2", *LONG)
    serve.training(number, 2)
    for word in ("requeue", "release"):
        try:
            serve.cluster.client("scontrol", word, str(number), user=USER)
        except slurm.ClusterError:
            pass  # Slurm may not allow it at that moment
    wait_until(lambda: sum(serve.cluster.gpus_in_use().values()) <= 2 and serve.job(number),
               lambda: f"no more GPUs than were given: {serve.cluster.gpus_in_use()}")
    other = serve.submit("allot min=18 max=18", *LONG)
    serve.training(other, 18)
