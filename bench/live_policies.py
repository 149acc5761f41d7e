#!/usr/bin/env python3
"""The same 30 jobs on a real Slurm under several schedulers, and in the simulator.

    bench/live_policies.py [--build build/release] [--checkpoint checkpoints/philly-elastic/accepted]
                           [--repeats 3] [--out bench/results/live_policies.json]

Three throw-away clusters side by side (tests/live/cluster.py), 20 GPUs each, that take the same jobs at the same times:
`allot serve` with the trained policy, `allot serve --policy fifo`, and Slurm's own backfill, which gives every job the
GPUs that its user asked for. Job completion times are Slurm's: end minus submission of the user's job.

The 20 GPUs exist in Slurm's books alone, so a job's speed is made: examples/elastic_counter trains a linear regression
whose steps are paced, n workers being worth n^0.85. Under Slurm's own scheduler a job sleeps for as long as its steps
would take at the size asked for: no start-up, no slow step.

Each run under allot is then simulated: the jobs as submitted, the throughput as the daemon measured it, what a launch
and a resize were measured to cost. Needs what tests/integration/slurm_test.py needs, h5py, and about ten minutes a
repeat, most of them spent waiting.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import h5py

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "live"))
import cluster as slurm  # noqa: E402
from waiting import wait_until  # noqa: E402

USER = "nobody" if os.getuid() == 0 else None
SCALING = 0.85  # examples/counter.cc
PACE, BATCH, MOST = 0.05, 64, 8  # seconds a step of one worker, samples a step, GPUs of a job
INTERVAL, RESTART_COST = 5, 1  # as the policies are told


def workload(seed, jobs=30, span=150):
    """Heavy-tailed jobs that ask for 1.4 times what 20 GPUs do in the time in which they come."""
    draw = random.Random(seed)
    times = sorted(draw.uniform(0, span) for _ in range(jobs))
    made = []
    for submit in times:
        gpus = draw.choices((1, 2, 4), (0.4, 0.3, 0.3))[0]
        seconds = min(300.0, max(8.0, draw.lognormvariate(math.log(30), 1.3)))
        made.append({"submit": submit - times[0], "gpus": gpus, "seconds": seconds,
                     "steps": max(1, round(seconds * gpus**SCALING / PACE))})
    return made


class Run:
    """The jobs on one cluster under one scheduler."""

    def __init__(self, folder, build, policy):
        self.folder, self.build, self.policy = folder, build, policy
        folder.mkdir()
        folder.chmod(0o755)

    def submit(self, cluster, job):
        home = self.folder / f"home{len(list(self.folder.glob('home*')))}"
        home.mkdir()
        home.chmod(0o1777)
        if self.policy is None:
            text, user = f"#!/bin/bash\nsleep {job['steps'] * PACE / job['gpus']**SCALING:.2f}\n", None
            options = ["--partition=main", f"--gres=gpu:{job['gpus']}", f"--time={math.ceil(job['seconds'] / 30)}"]
        else:
            user = USER
            text = f'#!/bin/bash\n"{self.build}/allot-elastic" run -- "{self.build}/examples/elastic_counter" ' \
                   f'--steps {job["steps"]} --pace-ms {1000 * PACE} --batch {BATCH}\n'
            options = [f"--comment=allot min=1 max={MOST} gpus={job['gpus']} model=counter work={job['steps'] * BATCH}"]
        (home / "train.sh").write_text(text)
        return int(cluster.client("sbatch", "--parsable", *options, "train.sh", user=user, cwd=home))

    def serve(self, cluster):
        with (self.folder / "serve.log").open("w") as log:
            return subprocess.Popen(
                [self.build / "allot", "serve", "--runtime", "slurm", *self.policy, "--state", self.folder / "state",
                 "--interval", str(INTERVAL), "--restart-cost", str(RESTART_COST), "--catalogue",
                 self.folder.parent / "profiles.csv", "--log", self.folder / "logs", "--out", self.folder / "out"],
                env=cluster.environment, stdout=log, stderr=log)

    def submit_all(self, cluster, jobs):
        """At their times; their numbers."""
        begin, numbers = time.monotonic(), []
        for job in jobs:
            time.sleep(max(0.0, begin + job["submit"] - time.monotonic()))
            numbers.append(self.submit(cluster, job))
        return numbers

    def play(self, jobs):
        """Slurm's record of every job, in order of submission."""
        backfill = {"SchedulerType": "sched/backfill",
                    "SchedulerParameters": "batch_sched_delay=0,sched_interval=2,bf_interval=2"}
        settings = {"MinJobAge": 86400} | (backfill if self.policy is None else {})  # records stay until they are read
        with slurm.Cluster(self.folder / "cluster", settings=settings) as cluster:
            daemon = self.serve(cluster) if self.policy is not None else None
            try:
                if daemon is not None:
                    status = [self.build / "allot", "status", "--json", "--state", self.folder / "state"]
                    wait_until(lambda: subprocess.run(status, capture_output=True).returncode == 0, "the daemon")
                numbers, records = self.submit_all(cluster, jobs), {}

                def all_ended():
                    time.sleep(1)
                    records.update(cluster.jobs())
                    return all(records[number]["JobState"] in slurm.ENDED - {"COMPLETING"} for number in numbers)

                wait_until(all_ended, lambda: str({n: records[n]["JobState"] for n in numbers}), 1800)
            finally:
                if daemon is not None:
                    daemon.send_signal(signal.SIGTERM)
                    try:
                        daemon.wait(60)
                    except subprocess.TimeoutExpired:
                        daemon.kill()
                        daemon.wait()
        for number in numbers:
            assert records[number]["JobState"] == "COMPLETED", records[number]
        return [records[number] for number in numbers]

    def times(self, jobs):
        def at(record, field):
            return datetime.fromisoformat(record[field]).timestamp()
        return [at(record, "EndTime") - at(record, "SubmitTime") for record in self.play(jobs)]


def mean(values):
    return sum(values) / len(values)


def measured_profiles(run):
    """Throughput as the daemon measured it, as a catalogue."""
    with h5py.File(next((run.folder / "logs").rglob("main_data.hdf5"))) as log:
        seen = log["episode_0"]["seen"]
        text = seen["long_texts/profiles"][0] if "long_texts/profiles" in seen else seen.attrs["profiles"]
        return text.decode()


def measured_costs(run):
    """Mean seconds from a decision to training of jobs that held nothing; and what a change of size cost, for which the
    simulator stops a job that goes on at its old speed here: seconds x (1 - old rate / new rate), 0 of a shrink."""
    launches, changes, size = [], [], {}
    for line in (run.folder / "state" / "journal.jsonl").read_text().splitlines():
        record = json.loads(line)
        job = record.get("job")
        if record["what"] == "give" and not record["shares"]:
            size.pop(job, None)
        elif record["what"] == "trains":
            before, after = size.get(job), record["workers"]
            size[job] = after
            if before is None:
                launches.append(record["took"])
            elif before != after:
                changes.append(record["took"] * max(0.0, 1 - (before / after)**SCALING))
    return {"launch": mean(launches), "change": mean(changes) if changes else 0.0, "launches": len(launches),
            "changes": len(changes)}


def simulated(run, jobs, build):
    """The average JCT of the same jobs in the simulator, and the costs that it was told."""
    costs = measured_costs(run)
    profiles = run.folder / "measured.csv"
    profiles.write_text(measured_profiles(run))
    with (run.folder / "jobs.csv").open("w") as file:
        out = csv.writer(file)
        out.writerow(("job_id", "submit_s", "gpus", "duration_s", "min_gpus", "max_gpus", "model", "work"))
        for number, job in enumerate(jobs):
            out.writerow((f"j{number}", job["submit"], job["gpus"], job["seconds"], 1, MOST, "counter",
                          job["steps"] * BATCH))
    policy = run.policy[1] if run.policy[0] == "--policy" else f"learned:checkpoint={run.policy[1]}"
    done = subprocess.run(
        [build / "allot", "simulate", "--json", "--workload", run.folder / "jobs.csv", "--catalogue", profiles,
         "--cluster", "2x4:v100,1x4:p100,1x8:k80", "--profile", "event", "--interval", str(INTERVAL),
         "--restart-cost", str(costs["change"]), "--launch-cost", str(costs["launch"]), "--length-estimates", "true",
         "--policy", policy, "--out", run.folder / "simulated"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["avg_jct_s"], costs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--checkpoint", type=Path, default=ROOT / "checkpoints" / "philly-elastic" / "accepted")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for all that the runs leave")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if slurm.missing():
        sys.exit(slurm.missing())
    build = options.build.resolve()
    policies = {"learned": ("--checkpoint", str(options.checkpoint.resolve())), "fifo": ("--policy", "fifo"),
                "slurm backfill": None}
    jobs = workload(options.seed, options.jobs, 5 * options.jobs)
    rows = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = options.keep or Path(name)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        profile = "".join(f"counter,v100,{n},{BATCH / PACE * n**SCALING}\n" for n in range(1, MOST + 1))
        (folder / "profiles.csv").write_text("profile,gpu_type,gpus,rate\n" + profile)
        for repeat in range(options.repeats):
            runs = {label: Run(folder / f"{label.replace(' ', '-')}-{repeat}", build, policy)
                    for label, policy in policies.items()}
            with concurrent.futures.ThreadPoolExecutor(len(runs)) as pool:
                waiting = {label: pool.submit(run.times, jobs) for label, run in runs.items()}
                live = {label: mean(future.result()) for label, future in waiting.items()}
            row = {"average_jct_seconds": {label: round(value, 2) for label, value in live.items()},
                   "load_average": os.getloadavg()[1]}
            for label, run in runs.items():
                if run.policy is not None:
                    made, costs = simulated(run, jobs, build)
                    row.setdefault("simulated", {})[label] = round(made, 2)
                    row.setdefault("measured_cost_seconds", {})[label] = {k: round(v, 3) for k, v in costs.items()}
            rows.append(row)
            print(json.dumps(row), flush=True)
    results = {"jobs": options.jobs, "seed": options.seed, "repeats": rows, "cores": os.cpu_count(),
               "machine": platform.machine()}
    if options.out:
        options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
