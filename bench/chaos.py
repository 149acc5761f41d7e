#!/usr/bin/env python3
"""Random faults on live clusters: how many jobs are lost, doubled, or hold GPUs for ever.

    bench/chaos.py [--runtime local|slurm|kubernetes] [--build build/release] [--schedules 200] [--seed 1] [--parallel 2]
                   [--out bench/results/chaos.json]

--runtime slurm: chaos_slurm.py. --runtime kubernetes: chaos_kubernetes.py. On the local one a schedule is a seed: two to four elastic jobs and three to seven faults within about four seconds (kill -9 or
SIGSTOP of a worker, of its keeper, kill -9 of the daemon, lost power, a damaged journal, a clock that jumps, a second daemon, a
node drained, a pause, a job cancelled by its user). Then everything must end by itself. A schedule that fails keeps its folder.
"""

import argparse
import concurrent.futures
import json
import os
import platform
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "live"))
import chaos_faults  # noqa: E402
from local import Live  # noqa: E402
from own_clock import OwnClock  # noqa: E402
from waiting import lines_of, wait_until  # noqa: E402

FAULTS = {"kill a worker": 5, "stop a worker": 2, "kill a keeper": 2, "kill the daemon": 4, "lose power": 2,
          "damage the journal": 2, "clock jumps": 2, "second daemon": 1, "drain a node": 2, "pause": 1, "cancel a job": 1, "submit a job": 2}


class Schedule:
    """One run by its seed."""

    def __init__(self, live, seed):
        self.live, self.random = live, random.Random(seed)
        self.jobs, self.cancelled, self.done = [], set(), Counter()
        self.clock = OwnClock(live.folder)
        live.environment = self.clock.environment(os.environ)

    def submit(self):
        name = f"j{len(self.jobs)}"
        low = self.random.choice((1, 1, 1, 2))
        self.jobs.append(name)
        self.live.submit(name, steps=self.random.randint(120, 400), low=low, high=self.random.choice((2, 4, 8)),
                         gpus=self.random.choice((low, 2)), pace=self.random.choice((4, 8, 12)))

    def restart(self):
        self.live.daemon.kill()
        self.live.daemon.wait()

    def worker(self):
        """Pid of a worker and of its keeper, if any lives."""
        alive = [(pid, name, job) for job in self.jobs for name, pid in self.live.workers(job).items()]
        return self.random.choice(sorted(alive)) if alive else None

    def signal(self, pid, what):
        try:
            os.kill(pid, what)
        except ProcessLookupError:
            pass

    def fault(self, what):
        live = self.live
        if what in ("kill a worker", "stop a worker", "kill a keeper"):
            victim = self.worker()
            if victim is None:
                return
            pid, name, job = victim
            if what == "kill a keeper":
                file = live.state / "local" / "jobs" / job / "workers" / f"{name}.json"
                try:
                    pid = json.loads(file.read_text())["pid"]
                except OSError:
                    return
            self.signal(pid, signal.SIGSTOP if what == "stop a worker" else signal.SIGKILL)
        elif what == "kill the daemon":
            self.restart()
            time.sleep(self.random.choice((0, 0, 0.3)))
            live.serve()
        elif what == "lose power":
            self.restart()
            chaos_faults.lose_power(live.state / "journal.jsonl", self.random)
            live.serve()
        elif what == "damage the journal":
            self.restart()
            chaos_faults.damage(live.state / "journal.jsonl", self.random)
            chaos_faults.repaired(lambda *words: live.say(*words, exit=None))
            live.serve()
        elif what == "clock jumps":
            if not chaos_faults.jumps(self.clock, self.random):
                return
        elif what == "second daemon":
            chaos_faults.refused(lambda log: subprocess.Popen(list(map(str, live.arguments())), stdout=log, stderr=log),
                                 "one daemon a state folder", live.folder / "refused.log")
        elif what == "drain a node":
            node = self.random.choice(("n1", "n2"))
            live.say("drain", "--node", node, exit=None)
            time.sleep(0.5)
            live.say("drain", "--node", node, "--undo", exit=None)
        elif what == "pause":
            live.say("pause", exit=None)
            time.sleep(0.4)
            live.say("resume", exit=None)
        elif what == "cancel a job":
            job = self.random.choice(sorted(self.jobs))
            if live.say("cancel", job, exit=None).returncode == 0:
                self.cancelled.add(job)
        elif what == "submit a job":
            self.submit()
        self.done[what] += 1

    def run(self):
        for _ in range(self.random.randint(2, 4)):
            self.submit()
        self.live.serve()
        for what in self.random.choices(list(FAULTS), FAULTS.values(), k=self.random.randint(3, 7)):
            time.sleep(self.random.uniform(0.1, 1.0))
            self.fault(what)

    def faults_found(self):
        """What must not be, as text; nothing when all is well."""
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
        """An empty line says nothing, and is let be."""
        return [json.loads(line) for line in lines_of(self.live.state / "journal.jsonl") if line]

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


def one(build, seed, keep):
    program = build / "allot"
    folder = Path(tempfile.mkdtemp(prefix=f"chaos-{seed}-"))
    live = Live(program, program.parent / "examples" / "elastic_counter", folder, worker_timeout=3)
    schedule = Schedule(live, seed)
    try:
        schedule.run()
        found = schedule.faults_found()
    except (AssertionError, OSError, ValueError, subprocess.SubprocessError) as error:
        found = [chaos_faults.told(error)]
    finally:
        live.end()
    if found and keep:
        print(f"seed {seed}: {found} in {folder}", file=sys.stderr, flush=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return {"seed": seed, "jobs": len(schedule.jobs), "cancelled": len(schedule.cancelled), "faults": dict(schedule.done),
            "found": found}


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {"cpu": model[1] if model else platform.processor(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", choices=("local", "slurm", "kubernetes"), default="local")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--schedules", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first schedule")
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--out", type=Path)
    o = parser.parse_args()
    begin = time.monotonic()
    play, runtime, places = one, "local:cluster=2x4", None
    if o.runtime == "kubernetes":
        import chaos_kubernetes
        if chaos_kubernetes.kubernetes.missing():
            sys.exit(chaos_kubernetes.kubernetes.missing())
        places = chaos_kubernetes.Planes()
        play, runtime = places.one, f"kubernetes {chaos_kubernetes.kubernetes.VERSION}, jobs on 2x4"
    elif o.runtime == "slurm":
        import chaos_slurm
        if chaos_slurm.missing():
            sys.exit(chaos_slurm.missing())
        places = chaos_slurm.Clusters()
        play, runtime = places.one, "slurm, jobs on 2x4"
    try:
        with concurrent.futures.ThreadPoolExecutor(o.parallel) as pool:
            runs = list(pool.map(lambda seed: play(o.build.resolve(), seed, True), range(o.seed, o.seed + o.schedules)))
    finally:
        if places:
            places.stop()
    faults = sum((Counter(run["faults"]) for run in runs), Counter())
    count = {kind: sum(text.startswith(kind) for run in runs for text in run["found"])
             for kind in ("lost", "doubled", "leaked", "backward", "stuck")}
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    result = {"runtime": runtime, "schedules": o.schedules, "first_seed": o.seed,
              "jobs": sum(run["jobs"] for run in runs), "cancelled": sum(run["cancelled"] for run in runs),
              "faults": dict(sorted(faults.items())), **count, "parallel": o.parallel,
              "minutes": round((time.monotonic() - begin) / 60, 1), "machine": machine(), "commit": commit.stdout.strip(),
              "let_pass": [{"seed": run["seed"], "what": run["let_pass"]} for run in runs if run.get("let_pass")],
              "failed": [run for run in runs if run["found"]]}
    text = json.dumps(result, indent=2) + "\n"
    if o.out:
        o.out.write_text(text)
    print(text, end="")
    sys.exit(1 if any(count.values()) else 0)


if __name__ == "__main__":
    main()
