"""A live cluster of local processes: jobs that train while they are resized, and what dies meanwhile."""

import csv
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import urllib.request
from pathlib import Path

import pytest

from local import ENDLESS
from waiting import text_of, wait_until


hung_workers_are_noticed_soon = pytest.mark.parametrize("live", [3], indirect=True)


def ends(live, code=0):
    """The daemon by itself, as it has nothing left to do."""
    assert live.daemon.wait(timeout=120) == code, live.log()[-3000:]


def gone(live, worker):
    wait_until(lambda: any(r["what"] == "gone" and r["worker"] == worker for r in live.journal()),
               lambda: f"{worker} to be gone: {live.log()[-3000:]}")


def check_whole(live, *names):
    """Nothing lost, nothing twice, nothing leaked, no step backward; the journal says so."""
    journal = live.journal()
    for name in names:
        ends = [r for r in journal if r["what"] == "over" and r["job"] == name]
        assert [r["state"] for r in ends] == ["finished"], f"{name}: {ends}"
        assert not live.workers(name), f"{name} left workers behind"
        steps = [step for step, _ in live.steps(name)]
        assert steps[-1] == max(steps)
    started = [w["worker"] for r in journal if r["what"] == "start" for w in r["workers"]]
    assert len(started) == len(set(started)), "a worker was started twice"
    epochs = {}
    for r in journal:
        if r["what"] == "announce":
            assert r["epoch"] > epochs.get(r["job"], -1), f"an epoch came twice: {r}"
            epochs[r["job"]] = r["epoch"]


def test_jobs_are_resized_while_they_train_and_all_finish(live):
    live.submit("a", steps=ENDLESS)
    live.serve("--until-idle", "--metrics", "tcp:127.0.0.1:0")
    live.training("a", at_least=4)
    live.submit("b", steps=300)
    live.submit("c", steps=300, high=8, gpus=2)
    for name in "bc":
        live.over(name)

    def sizes():
        return {r["workers"] for r in live.journal() if r["what"] == "trains" and r["job"] == "a"}
    wait_until(lambda: len(sizes()) > 1, lambda: f"it to be resized: {sizes()}")
    live.training("a", step=300)
    live.finish("a")
    live.over("a")
    ends(live)
    check_whole(live, "a", "b", "c")
    losses = [loss for _, loss in live.steps("a")]
    assert losses[-1] < losses[0] / 10, "the loss did not go on falling"


def test_a_killed_worker_is_replaced(live):
    live.submit("a", steps=ENDLESS)
    live.serve("--until-idle")
    step = live.training("a", at_least=4, step=60)["step"]
    first, pid = sorted(live.workers("a").items())[0]  # rank 0
    os.kill(pid, signal.SIGKILL)
    gone(live, first)
    live.training("a", at_least=4, step=step)
    live.finish("a")
    live.over("a")
    check_whole(live, "a")


@hung_workers_are_noticed_soon
def test_a_hung_worker_is_ended(live):
    live.submit("a", steps=ENDLESS)
    live.serve("--until-idle")
    live.training("a", at_least=4)
    last, pid = sorted(live.workers("a").items())[-1]
    os.kill(pid, signal.SIGSTOP)
    gone(live, last)
    live.finish("a")
    live.over("a")
    check_whole(live, "a")


@hung_workers_are_noticed_soon
def test_a_worker_that_hangs_while_the_daemon_dies_is_ended(live):
    live.submit("a", steps=ENDLESS)
    live.serve()
    live.training("a", at_least=4)
    last, pid = sorted(live.workers("a").items())[-1]
    os.kill(pid, signal.SIGSTOP)
    live.daemon.kill()
    live.daemon.wait()
    live.serve("--until-idle")
    gone(live, last)
    live.finish("a")
    live.over("a")
    check_whole(live, "a")


def test_a_killed_daemon_is_replaced_and_nothing_is_lost(live):
    live.submit("a", steps=900)
    live.submit("b", steps=700)
    live.serve()
    for round_ in range(4):  # wherever it just is: starting, joining, forming, leaving
        if round_ == 2:
            live.submit("c", steps=300, gpus=2)
        wait_until(lambda: len(live.journal()) > 5 * (round_ + 1), "it to do something")
        live.daemon.kill()
        live.daemon.wait()
        live.serve()
    for name in "abc":
        live.over(name)
    wait_until(lambda: not live.status()["jobs"], "all to be gone")
    check_whole(live, "a", "b", "c")


def test_a_job_that_finishes_without_a_daemon_is_not_run_again(live):
    live.submit("a", steps=200)
    live.serve()
    wait_until(lambda: any(r["what"] == "trains" for r in live.journal()), "it to train")
    live.daemon.kill()
    live.daemon.wait()
    log = live.state / "local" / "jobs" / "a" / "log"
    wait_until(lambda: any("step=200" in text_of(file) for file in log.glob("*.log")), "its work to be done")
    live.serve("--until-idle")
    assert live.over("a")["state"] == "finished"
    ends(live)
    check_whole(live, "a")


def test_a_journal_that_was_cut_off_is_gone_on_with(live):
    live.submit("a", steps=ENDLESS)
    live.serve()
    live.training("a", at_least=4)
    live.daemon.kill()
    live.daemon.wait()
    with (live.state / "journal.jsonl").open("a") as journal:
        journal.write('{"at":12.5,"what":"gi')
    live.serve("--until-idle")
    assert "cut off" in live.log()
    live.finish("a")
    live.over("a")
    ends(live)
    check_whole(live, "a")


def test_two_daemons_are_one_too_many(live):
    live.serve()
    second = subprocess.run(list(map(str, live.arguments())), capture_output=True, text=True, check=False, timeout=120)
    assert second.returncode == 1
    assert str(live.daemon.pid) in second.stderr


def test_a_run_leaves_what_a_simulation_leaves(live, allot, training):
    for name, after in (("a", 0), ("b", 0), ("c", 0.3), ("d", 1.2), ("e", 2.7)):
        live.submit(name, steps=150, high=8, gpus=2, after=after)
    results = ("--log", live.folder / "logs", "--out", live.folder / "out")
    live.serve("--until-idle", "--shadow", "index", *results)
    ends(live)
    run, log = live.folder / "out" / "drf-v0", live.folder / "logs" / "live" / "drf-v0"
    jobs = list(csv.DictReader((run / "drf" / "jobs.csv").open()))
    assert [job["job_id"] for job in jobs] == list("abcde") and all(float(job["jct_s"]) > 0 for job in jobs)
    assert json.loads((run / "drf" / "summary.json").read_text())["unfinished"] == 0
    holdings = list(csv.DictReader((run / "drf" / "allocations.csv").open()))
    assert {row["job_id"] for row in holdings} == set("abcde") and all(0 <= int(row["gpus"]) <= 8 for row in holdings)
    allot("report", run, "-o", "report.html")
    assert (live.folder / "report.html").exists()

    # What was seen encodes to the logged bytes, and all was legal; of the shadow too.
    for played in (log, log.parent / "shadow-index-v0"):
        (replayed,) = json.loads(allot("replay", played, "--json").stdout)
        assert replayed["live"] and replayed["jobs"] == 5 and replayed["different"] == 0
        assert replayed["decisions"] > 3

    # It is a workload again, a teacher, and a world to train in.
    allot("trace", "convert", "--workload", live.state / "journal.jsonl", "--out", "again.csv")
    again = list(csv.DictReader((live.folder / "again.csv").open()))
    assert [(job["job_id"], job["gpus"], job["max_gpus"]) for job in again] == [(name, "2", "8") for name in "abcde"]
    assert all(float(job["duration_s"]) > 0 for job in again)
    allot("pretrain", "--log", log, "--epochs", "1", "--hold-out", "0", "--out", "pretrained", "--quiet")
    allot("train", "--from-log", log, "--start", "pretrained/checkpoint", "--iterations", "1", "--batch", "1", "--method",
          "policy-gradient:rollouts=3,sample-share=1", "--validation-workloads", "1", "--out", "trained", "--quiet")
    allot("explain", "--checkpoint", "trained/best", "--observation", log, "--decision", "3")

    # The next daemon begins a log of its own, and writes it when it is told to end.
    live.submit("f", steps=ENDLESS)
    live.serve(*results)
    live.training("f")
    live.daemon.terminate()
    ends(live)
    (replayed,) = json.loads(allot("replay", log.parent / "drf-v1", "--json").stdout)
    assert replayed["jobs"] == 1 and replayed["different"] == 0
    assert not list(live.folder.glob("logs/**/*.part"))


def test_any_program_runs_by_restart(live):
    script = live.folder / "train.sh"
    script.write_text('#!/bin/sh\necho "$ALLOT_RANK of $ALLOT_WORLD_SIZE on $CUDA_VISIBLE_DEVICES" >> "$ALLOT_RUN_DIR/out"\n')
    script.chmod(0o755)
    (live.spool / "plain.toml").write_text('[[job]]\ncommand = ["./train.sh", "$(touch x)"]\ndirectory = ".."\ngpus = 2\nresize = "restart"\n')
    live.serve("--until-idle")
    live.over("plain")
    assert (live.state / "local" / "jobs" / "plain" / "run" / "out").read_text() == "0 of 1 on 0,1\n"
    assert not (live.folder / "x").exists()


def test_users_pause_drain_and_resume(live):
    live.serve()
    live.say("pause")
    live.submit("a", steps=ENDLESS)
    wait_until(lambda: live.job("a"), "it to be seen")
    assert live.job("a")["stage"] == "waiting"
    head, _, _, row = live.say("queue").stdout.splitlines()
    assert head == "1 of 1 job waits, 8 of 8 GPUs free, policy drf, PAUSED"
    assert row.startswith("a ") and row.endswith("allot is paused")
    assert [job["job"] for job in json.loads(live.say("queue", "--json").stdout)] == ["a"]
    live.say("resume")
    live.training("a", at_least=4)
    live.say("drain", "--node", "n1")
    wait_until(lambda: live.status()["nodes"][0]["held"] == 0, "n1 to be left")
    live.say("drain", "--node", "n9", exit=1)
    assert "PAUSED" not in live.say("status").stdout
    live.say("pause")
    live.say("resume")
    assert live.status()["nodes"][0]["drained"], "the end of a pause ends no drain"
    live.say("drain", "--node", "n1", "--undo")
    wait_until(lambda: not live.status()["nodes"][0]["drained"], "n1 to be back")


def test_what_was_done_is_said_in_one_line(live):
    live.serve()
    live.submit("a", steps=ENDLESS)
    live.training("a")
    assert [live.say(*words).stdout for words in (
        ("pause",), ("drain",), ("resume",), ("drain", "--undo"), ("drain", "--node", "n1"), ("drain", "--node", "n1", "--undo"),
        ("resume",), ("cancel", "a"))] == [
        "paused: jobs run on as they are until 'allot resume'\n",
        "drained: no job begins until 'allot drain --undo'; those that run go on\n",
        "resumed; still drained: no job begins until 'allot drain --undo'\n",
        "no longer drained: jobs may begin\n",
        "node n1 is drained until 'allot drain --node n1 --undo': its jobs are moved away\n",
        "node n1 is no longer drained\n",
        "resumed: decisions go on\n",
        "job a is cancelled; what runs of it is stopped\n"]
    assert json.loads(live.say("pause", "--json").stdout) == {"done": "pause", "paused": True, "drained": False}
    live.say("drain")
    assert live.say("drain", "--undo").stdout == "no longer drained; still paused until 'allot resume'\n"
    assert json.loads(live.say("drain", "--node", "n1", "--json").stdout)["node"] == {"node": "n1", "state": "drained"}
    assert live.say("drain", "--node", "n9", exit=1).stdout == ""


def test_jobs_of_one_moment_stand_as_people_count(live):
    live.serve()
    live.say("pause")
    part = live.folder / "many.part"
    part.write_text("".join(f'[[job]]\nname = "j{number}"\ncommand = ["true"]\n' for number in range(1, 12)))
    part.rename(live.spool / "many.toml")
    wait_until(lambda: len(live.status()["jobs"]) == 11, "all to be seen")
    names = [f"j{number}" for number in range(1, 12)]
    assert [job["job"] for job in live.status()["jobs"]] == names
    rows = live.say("top").stdout.splitlines()
    assert [row.split()[0] for row in rows if row.startswith("j") and row.split()[0] != "job"] == names


def test_gpus_of_a_drained_node_are_neither_there_nor_in_use(live):
    """While a job that is not to be moved is still on it."""
    (live.spool / "stays.toml").write_text('[[job]]\ncommand = ["sleep", "100000"]\ngpus = 4\nresize = "restart"\npreempt = "no"\n')
    live.serve()
    wait_until(lambda: (job := live.job("stays")) and job["held"] == 4, "it to run")
    node, = (node["node"] for node in live.status()["nodes"] if node["held"] == 4)
    live.say("drain", "--node", node)
    wait_until(lambda: any(node["drained"] for node in live.status()["nodes"]), "the drain")
    head = live.say("status").stdout.splitlines()[0]
    assert ": 0 of 4 GPUs," in head and f", {node} drained (4 GPUs still in use)" in head, head


def test_a_cancelled_job_leaves_and_the_others_stay(live):
    live.submit("a", steps=ENDLESS)
    live.submit("b", steps=ENDLESS)
    live.serve()
    live.training("a")
    assert "did you mean" in live.say("cancel", "bb", exit=1).stderr
    live.say("cancel", "a")
    assert live.over("a")["state"] == "cancelled"
    live.training("b", at_least=4)
    assert not live.workers("a")


def test_a_bad_job_file_is_refused_and_the_daemon_lives(live):
    live.serve()
    (live.spool / "bad.toml").write_text('[[job]]\ncommand = ["x"]\ngpu = 3\n')
    wait_until(lambda: (live.spool / "refused" / "bad.toml").exists(), "it to be refused")
    assert "did you mean 'gpus'" in live.log()
    assert live.status()["jobs"] == []


@pytest.mark.parametrize("resize", ["hot", "restart"])
def test_a_job_without_a_program_is_given_up(live, resize):
    live.submit("a", steps=300)
    (live.spool / "b.toml").write_text(f'[[job]]\nname = "b"\nresize = "{resize}"\ncommand = ["./no-such-program"]\n')
    live.serve("--until-idle")
    over = live.over("b")
    assert over["state"] == "failed" and "no-such-program" in over["reason"]
    ends(live, 1)  # a job has failed
    check_whole(live, "a")


def test_strangers_are_refused(live):
    live.submit("a", steps=ENDLESS)
    live.serve()
    live.training("a")
    for greeting in ({"say": "join", "job": "a", "worker": "a.0", "token": "0" * 32},
                     {"say": "progress", "step": 10**9}, "rubbish"):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(live.state / "local" / "workers.sock"))
            stranger.sendall(((greeting if isinstance(greeting, str) else json.dumps(greeting)) + "\n").encode())
            stranger.settimeout(120)
            assert b"refused" in stranger.recv(4096)
    assert live.job("a")["step"] < 10**8
    for name in ("control.sock", "local/workers.sock", "journal.jsonl"):
        assert (live.state / name).stat().st_mode & 0o077 == 0, name


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, for a daemon of another user")
def test_the_daemon_shows_its_memory_to_nobody(live):
    """Linux gives the files in /proc of a process that makes no core dumps to root, whoever it belongs to."""
    with tempfile.TemporaryDirectory() as name:
        os.chown(name, 65534, 65534)
        live.spool = live.state = Path(name)
        daemon = subprocess.Popen(list(map(str, live.arguments())), cwd=name, user=65534, group=65534, stderr=subprocess.PIPE)
        try:
            wait_until((Path(name) / "control.sock").exists, "the daemon to begin")
            assert os.stat(f"/proc/{daemon.pid}/mem").st_uid == 0
        finally:
            daemon.kill()
            said = daemon.communicate()[1]
        assert b"error" not in said, said


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, for a folder of another user")
def test_a_state_folder_of_another_user_is_refused(live):
    live.state.mkdir()
    os.chown(live.state, 65534, 65534)
    done = subprocess.run(list(map(str, live.arguments())), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1 and f"'{live.state}' must be a folder of user 0" in done.stderr, done.stderr
    assert not list(live.state.iterdir())


def test_metrics_are_served(live):
    refused = subprocess.run(list(map(str, live.arguments("--metrics", "tcp:0.0.0.0:0"))), capture_output=True, text=True,
                             check=False, timeout=120)
    assert refused.returncode == 2 and "--metrics-for-all" in refused.stderr
    live.serve("--metrics", "tcp:127.0.0.1:0", "--shadow", "index")
    address = wait_until(lambda: re.search(r"metrics at tcp:(\S+)\n", live.log()), "the address")[1]
    text = wait_until(lambda: urllib.request.urlopen(f"http://{address}/metrics", timeout=120).read().decode(), "them")
    assert 'allot_gpus_up{type="gpu"} 8' in text
    assert "allot_decision_seconds_bucket" in text and "allot_shadow_agreement" in text


def test_a_dry_run_starts_nothing(live):
    live.submit("a")
    daemon = subprocess.Popen(list(map(str, live.arguments("--policy", "drf", "--dry-run"))), stderr=subprocess.PIPE, text=True)
    try:
        line = wait_until(lambda: next((line for line in daemon.stderr if "would give" in line), None), "a decision")
        assert '"job":"a"' in line
    finally:
        daemon.kill()
        daemon.wait()
    assert not list(live.state.glob("**/workers/*.json"))


def test_jobs_that_a_broken_node_fails_finish_on_another(allot, tmp_path):
    """Ten restart jobs, each given up after six failures, on two nodes of which the first ends every script with 1."""
    script = tmp_path / "train.sh"
    script.write_text('#!/bin/sh\ncase "$ALLOT_NODE" in *1) exit 1;; esac\nsleep 1\n')
    script.chmod(0o755)
    (tmp_path / "jobs.toml").write_text("".join(
        f'[[job]]\nname = "j{job}"\ncommand = ["{script}"]\ngpus = 1\nmin = 1\nmax = 1\nresize = "restart"\n' for job in range(10)))
    served = allot("serve", "--runtime", f"local:cluster=2x2,jobs={tmp_path}/jobs.toml", "--state", tmp_path / "state", "--interval", "1",
                   "--until-idle")
    over = [r for r in map(json.loads, (tmp_path / "state" / "journal.jsonl").open()) if r["what"] == "over"]
    assert [r["state"] for r in over] == ["finished"] * 10
    assert re.search(r"node n?\d*1 is avoided", served.stderr + served.stdout), served.stderr[-3000:]
