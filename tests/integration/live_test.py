"""A live cluster of local processes: jobs that train while they are resized, and what dies meanwhile."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest


def wait_until(what, condition, seconds=30):
    """The value of condition() once it is true. No timing: only a test that fails waits that long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"never came: {what}")


class Live:
    """One state folder, and the daemon that serves it at the moment."""

    def __init__(self, program, counter, folder, cluster="2x4"):
        self.program, self.counter, self.folder = program, counter, folder
        self.cluster = cluster
        self.state, self.spool = folder / "s", folder / "spool"
        self.spool.mkdir()
        self.daemon = None

    def arguments(self, *more):
        return [self.program, "serve", "--runtime", f"local:cluster={self.cluster},spool={self.spool}",
                "--state", self.state, "--interval", "0.3", "--poll", "0.05", "--hung-after", "3", *more]

    def serve(self, *more, policy="drf"):
        log = (self.folder / "log").open("a")
        self.daemon = subprocess.Popen(list(map(str, self.arguments("--policy", policy, *more))), stderr=log,
                                       stdout=log, cwd=self.folder)
        # With --until-idle it may have nothing left to do before anybody asks.
        wait_until("a daemon that answers", lambda: self.daemon.poll() == 0 or self.status())
        return self

    def submit(self, name, steps=400, low=1, high=4, pace=10, gpus=1, **keys):
        extra = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        text = (f'[[job]]\nname = "{name}"\ngpus = {gpus}\nmin = {low}\nmax = {high}\n{extra}'
                f'command = ["{self.counter}", "--steps", "{steps}", "--pace-ms", "{pace}", "--save-every", "50"]\n')
        part = self.folder / f"{name}.part"
        part.write_text(text)
        part.rename(self.spool / f"{name}.toml")

    def say(self, *words, exit=0):
        done = subprocess.run(list(map(str, [self.program, *words, "--state", self.state])), capture_output=True,
                              text=True, check=False, timeout=30)
        assert exit is None or done.returncode == exit, done.stderr
        return done

    def status(self):
        done = self.say("status", "--json", exit=None)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def job(self, name):
        return next((job for job in self.status()["jobs"] if job["job"] == name), None)

    def training(self, name, at_least=1, step=0):
        def there():
            job = self.job(name)
            return job and job["stage"] == "training" and job["held"] >= at_least and job["step"] > step and job

        return wait_until(f"{name} training on {at_least} GPUs past step {step}", there)

    def journal(self):
        return [json.loads(line) for line in (self.state / "journal.jsonl").read_text().splitlines()]

    def over(self, name):
        """Its end, once its last worker is gone."""
        wait_until(f"{name} is over", lambda: any(r["what"] == "retire" and r["job"] == name for r in self.journal()), 60)
        return next(r for r in self.journal() if r["what"] == "over" and r["job"] == name)

    def steps(self, name):
        """(step, loss) as its workers printed them, in order of steps."""
        found = []
        for log in (self.state / "local" / "jobs" / name / "log").glob("*.log"):
            found += re.findall(r"^step=(\d+) loss=([0-9.]+)", log.read_text(), re.MULTILINE)
        return sorted((int(step), float(loss)) for step, loss in found)

    def workers(self, name):
        """Worker -> pid of its process, of those that live."""
        found = {}
        for file in (self.state / "local" / "jobs" / name / "workers").glob("*.json"):
            keeper = json.loads(file.read_text())["pid"]
            try:
                children = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
            except OSError:
                continue
            if children:
                found[file.stem] = int(children[0])
        return found

    def end(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.kill()
            self.daemon.wait()
        for file in (self.state / "local" / "jobs").glob("*/workers/*.json"):
            try:
                os.killpg(json.loads(file.read_text())["pid"], signal.SIGKILL)
            except ProcessLookupError:
                pass


@pytest.fixture
def live(program, tmp_path):
    counter = program.parent / "examples" / "elastic_counter"
    if not os.access(counter, os.X_OK):
        pytest.skip(f"not built: {counter}")
    one = Live(program, counter, tmp_path)
    yield one
    one.end()


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
    live.submit("a", steps=1000)
    live.serve("--until-idle", "--metrics", "tcp:127.0.0.1:0")
    live.training("a", at_least=4)
    live.submit("b", steps=300)
    live.submit("c", steps=300, high=8, gpus=2)
    live.training("c")
    for name in "abc":
        live.over(name)
    assert live.daemon.wait(timeout=30) == 0
    check_whole(live, "a", "b", "c")
    sizes = {r["workers"] for r in live.journal() if r["what"] == "trains" and r["job"] == "a"}
    assert len(sizes) > 1, f"it was never resized: {sizes}"
    losses = [loss for _, loss in live.steps("a")]
    assert losses[-1] < losses[0] / 10, "the loss did not go on falling"


def test_a_killed_worker_is_replaced(live):
    live.submit("a", steps=1000)
    live.serve("--until-idle")
    live.training("a", at_least=4, step=60)
    first = sorted(live.workers("a"))[0]  # rank 0
    os.kill(live.workers("a")[first], signal.SIGKILL)
    wait_until("the loss is noticed", lambda: any(r["what"] == "gone" and r["worker"] == first for r in live.journal()))
    live.over("a")
    check_whole(live, "a")


def test_a_hung_worker_is_ended(live):
    live.submit("a", steps=1000)
    live.serve("--until-idle")
    live.training("a", at_least=4)
    last, pid = sorted(live.workers("a").items())[-1]
    os.kill(pid, signal.SIGSTOP)
    wait_until("it is ended", lambda: any(r["what"] == "gone" and r["worker"] == last for r in live.journal()))
    live.over("a")
    check_whole(live, "a")


def test_a_killed_daemon_is_replaced_and_nothing_is_lost(live):
    live.submit("a", steps=900)
    live.submit("b", steps=700)
    live.serve()
    for round_ in range(4):  # wherever it just is: starting, joining, forming, leaving
        if round_ == 2:
            live.submit("c", steps=300, gpus=2)
        wait_until("it does something", lambda: len(live.journal()) > 5 * (round_ + 1))
        live.daemon.kill()
        live.daemon.wait()
        live.serve()
    for name in "abc":
        live.over(name)
    wait_until("all are gone", lambda: not live.status()["jobs"])
    check_whole(live, "a", "b", "c")


def test_a_job_that_finishes_without_a_daemon_is_not_run_again(live):
    live.submit("a", steps=200)
    live.serve()
    wait_until("it trains", lambda: any(r["what"] == "trains" for r in live.journal()))
    live.daemon.kill()
    live.daemon.wait()
    log = live.state / "local" / "jobs" / "a" / "log"
    wait_until("its work is done", lambda: any("step=200" in file.read_text() for file in log.glob("*.log")))
    live.serve("--until-idle")
    assert live.over("a")["state"] == "finished"
    assert live.daemon.wait(timeout=30) == 0
    check_whole(live, "a")


def test_a_journal_that_was_cut_off_is_gone_on_with(live):
    live.submit("a", steps=1000)
    live.serve()
    live.training("a", at_least=4)
    live.daemon.kill()
    live.daemon.wait()
    with (live.state / "journal.jsonl").open("a") as journal:
        journal.write('{"at":12.5,"what":"gi')
    live.serve("--until-idle")
    assert "cut off" in (live.folder / "log").read_text()
    live.over("a")
    assert live.daemon.wait(timeout=30) == 0
    check_whole(live, "a")


def test_two_daemons_are_one_too_many(live):
    live.serve()
    second = subprocess.run(list(map(str, live.arguments())), capture_output=True, text=True, check=False, timeout=30)
    assert second.returncode == 1
    assert str(live.daemon.pid) in second.stderr


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
    live.submit("a", steps=2000)
    wait_until("it is seen", lambda: live.job("a"))
    assert live.job("a")["stage"] == "waiting"
    assert "a" in live.say("queue").stdout
    live.say("resume")
    live.training("a", at_least=4)
    live.say("drain", "--node", "n1")
    wait_until("n1 is left", lambda: live.status()["nodes"][0]["held"] == 0)
    live.say("drain", "--node", "n9", exit=1)
    assert "PAUSED" not in live.say("status").stdout


def test_a_bad_job_file_is_refused_and_the_daemon_lives(live):
    live.serve()
    (live.spool / "bad.toml").write_text('[[job]]\ncommand = ["x"]\ngpu = 3\n')
    wait_until("refused", lambda: (live.spool / "refused" / "bad.toml").exists())
    assert "did you mean 'gpus'" in (live.folder / "log").read_text()
    assert live.status()["jobs"] == []


def test_strangers_are_refused(live):
    live.submit("a", steps=2000)
    live.serve()
    live.training("a")
    for greeting in ({"say": "join", "job": "a", "worker": "a.0", "token": "0" * 32},
                     {"say": "progress", "step": 10**9}, "rubbish"):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(live.state / "local" / "workers.sock"))
            stranger.sendall(((greeting if isinstance(greeting, str) else json.dumps(greeting)) + "\n").encode())
            stranger.settimeout(10)
            assert b"refused" in stranger.recv(4096)
    assert live.job("a")["step"] < 10**8
    for name in ("control.sock", "local/workers.sock", "journal.jsonl"):
        assert (live.state / name).stat().st_mode & 0o077 == 0, name


def test_metrics_are_served(live):
    live.serve("--metrics", "tcp:127.0.0.1:0")
    address = wait_until("the address", lambda: re.search(r"metrics at tcp:(\S+)", (live.folder / "log").read_text()))[1]
    text = wait_until("published", lambda: urllib.request.urlopen(f"http://{address}/metrics", timeout=10).read().decode())
    assert "allot_gpus_up 8" in text
    assert "allot_decision_seconds_bucket" in text


def test_a_dry_run_starts_nothing(live):
    live.submit("a")
    daemon = subprocess.Popen(list(map(str, live.arguments("--policy", "drf", "--dry-run"))), stderr=subprocess.PIPE, text=True)
    try:
        line = wait_until("a decision", lambda: next((line for line in daemon.stderr if "would give" in line), None))
        assert '"job":"a"' in line
    finally:
        daemon.kill()
        daemon.wait()
    assert not list(live.state.glob("**/workers/*.json"))
