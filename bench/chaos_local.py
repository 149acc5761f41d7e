"""Random faults on `allot serve` with local processes: what bench/chaos.py plays.

A schedule is a seed: two to four elastic jobs and three to seven faults within about four seconds (kill -9 or SIGSTOP of a worker, of
its keeper, kill -9 of the daemon, lost power, a damaged journal, a clock that jumps, a second daemon, a node drained, a pause, a job
cancelled by its user).
"""

import json
import os
import re
import signal
import subprocess
import time
from collections import Counter

import chaos_faults
import chaos_schedule
from local import Live
from own_clock import OwnClock
from waiting import lines_of, wait_until


class Schedule(chaos_schedule.Schedule):
    FAULTS = {"kill a worker": 5, "stop a worker": 2, "kill a keeper": 2, "kill the daemon": 4, "lose power": 2,
              "damage the journal": 2, "clock jumps": 2, "second daemon": 1, "drain a node": 2, "pause": 1, "cancel a job": 1,
              "submit a job": 2}
    MANY = (3, 7)

    def __init__(self, build, folder, seed):
        super().__init__(seed)
        self.live = Live(build / "allot", build / "examples" / "elastic_counter", folder, worker_timeout=3)
        self.clock = OwnClock(folder)
        self.live.environment = self.clock.environment(os.environ)

    # ---- acting ----
    def begin(self):
        self.live.serve()

    def submit(self):
        name = f"j{len(self.jobs)}"
        low = self.random.choice((1, 1, 1, 2))
        self.jobs.append(name)
        self.live.submit(name, steps=self.random.randint(120, 400), low=low, high=self.random.choice((2, 4, 8)),
                         gpus=self.random.choice((low, 2)), pace=self.random.choice((4, 8, 12)))

    def restart(self, between=lambda: None):
        self.live.daemon.kill()
        self.live.daemon.wait()
        between()
        self.live.serve()

    def worker(self):
        """(pid, name, job) of one that lives, or None."""
        alive = [(pid, name, job) for job in self.jobs for name, pid in self.live.workers(job).items()]
        return self.random.choice(sorted(alive)) if alive else None

    def send(self, pid, what):
        try:
            os.kill(pid, what)
        except ProcessLookupError:
            pass

    def kill_a_worker(self, what=signal.SIGKILL):
        victim = self.worker()
        if victim is None:
            return False
        self.send(victim[0], what)
        return True

    def stop_a_worker(self):
        return self.kill_a_worker(signal.SIGSTOP)

    def kill_a_keeper(self):
        victim = self.worker()
        if victim is None:
            return False
        _, name, job = victim
        try:
            kept = (self.live.state / "local" / "jobs" / job / "workers" / f"{name}.json").read_text()
        except OSError:
            return False
        self.send(json.loads(kept)["pid"], signal.SIGKILL)
        return True

    def kill_the_daemon(self):
        self.restart(lambda: time.sleep(self.random.choice((0, 0, 0.3))))

    def lose_power(self):
        self.restart(lambda: chaos_faults.lose_power(self.live.state / "journal.jsonl", self.random))

    def damage_the_journal(self):
        def damage():
            chaos_faults.damage(self.live.state / "journal.jsonl", self.random)
            chaos_faults.repaired(lambda *words: self.live.say(*words, exit=None))
        self.restart(damage)

    def clock_jumps(self):
        return chaos_faults.jumps(self.clock, self.random)

    def second_daemon(self):
        chaos_faults.refused(lambda log: subprocess.Popen(list(map(str, self.live.arguments())), stdout=log, stderr=log),
                             "one daemon a state folder", self.live.folder / "refused.log")

    def drain_a_node(self):
        node = self.random.choice(("n1", "n2"))
        self.live.say("drain", "--node", node, exit=None)
        time.sleep(0.5)
        self.live.say("drain", "--node", node, "--undo", exit=None)

    def pause(self):
        self.live.say("pause", exit=None)
        time.sleep(0.4)
        self.live.say("resume", exit=None)

    def cancel_a_job(self):
        job = self.random.choice(sorted(self.jobs))
        if self.live.say("cancel", job, exit=None).returncode == 0:
            self.cancelled.add(job)

    def end(self):
        self.live.end()

    # ---- judging ----
    def faults_found(self):
        live, found = self.live, []
        try:
            wait_until(lambda: self.ended() == set(self.jobs), "the end of all jobs", 90)
        except AssertionError:
            found += [f"lost: {job} never ended" for job in sorted(set(self.jobs) - self.ended())]
        journal = self.journal()
        for job in self.jobs:
            ends = [r["state"] for r in journal if r["what"] == "over" and r["job"] == job]
            if len(ends) > 1:
                found.append(f"doubled: {job} ended as {ends}")
            elif ends and ends[0] != "finished" and job not in self.cancelled:
                found.append(f"lost: {job} ended as {ends[0]}")
            if live.workers(job) and ends:
                found.append(f"leaked: {job} left {sorted(live.workers(job))}")
            found += self.backward(job)
        names = [w["worker"] for r in journal if r["what"] == "start" for w in r["workers"]]
        found += [f"doubled: worker {name} was started {n} times" for name, n in Counter(names).items() if n > 1]
        try:  # what a daemon tells is up to 0.2 s old
            wait_until(lambda: not self.held(), "all GPUs to be free", 10)
        except AssertionError:
            found.append(f"leaked: GPUs held at the end: {self.held()}")
        return found

    def held(self):
        status = self.live.asked()
        return {node["node"]: node["held"] for node in status["nodes"] if node["held"]} if status else "no daemon"

    def ended(self):
        return {r["job"] for r in self.journal() if r["what"] == "retire"}

    def journal(self):
        """An empty line says nothing, and is let be. A record that stands there twice was doubled by damage."""
        return [json.loads(line) for line in dict.fromkeys(lines_of(self.live.state / "journal.jsonl")) if line]

    def backward(self, job):
        """Epochs that began before the last checkpoint of the one before: the counter saves every 50 steps."""
        begins = {}
        for log in (self.live.state / "local" / "jobs" / job / "log").glob("*.log"):
            for epoch, step in re.findall(r"^epoch=(\d+) rank=0 world=\d+ step=(\d+)", log.read_text(errors="replace"),
                                          re.MULTILINE):
                begins[int(epoch)] = int(step)
        steps = [begins[epoch] for epoch in sorted(begins)]
        return [f"backward: {job} began at {after} after {before}" for before, after in zip(steps, steps[1:])
                if after < before - 50]


class World(chaos_schedule.World):
    """A schedule has a daemon of its own, and nothing besides."""

    name = "local:cluster=2x4"

    def schedule(self, build, cluster, folder, seed):
        return Schedule(build, folder, seed)


def missing():
    return None
