#!/usr/bin/env python3
"""What `allot advise` is worth: 200 ordinary jobs of four users on a throw-away Slurm, in its own multifactor order and with advice.

    bench/advise.py [--jobs 200] [--policy index] [--seeds 1 2 3] [--out bench/results/advise.json]

The same jobs at the same times on 20 GPUs, once as Slurm orders them (age, fair share and size), once with `allot advise --write`
beside it. A job sleeps for a part of its time limit, of which a minute is played as --minute seconds. Waits are Slurm's own times.
"""

import argparse
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "live"))
import accounting  # noqa: E402
from waiting import wait_until  # noqa: E402

USERS = {"games": (2, 1.0), "man": (6, 1.2), "news": (10, 1.0), "nobody": (20, 0.8)}  # median minutes, spread of the logarithm
ACCOUNTS = (("add", "account", "lab"), *(("add", "user", user, "account=lab") for user in USERS))
NODES = (("n1", 16, "a100", 4), ("n2", 16, "a100", 4), ("n3", 16, "a100", 4), ("n4", 16, "a100", 8))
SETTINGS = {
    "JobSubmitPlugins": "partition", "SchedulerType": "sched/backfill",
    "SchedulerParameters": "batch_sched_delay=0,sched_interval=1,bf_interval=1,sched_min_interval=100000",
    "PriorityType": "priority/multifactor", "PriorityWeightAge": 1000, "PriorityMaxAge": "0-00:10:00",
    "PriorityWeightFairShare": 1000, "PriorityWeightJobSize": 200, "PriorityWeightPartition": 1000, "PriorityCalcPeriod": 1}


def make_jobs(count, seed, arrivals, least=1):
    """At least so many minutes each: (user, GPUs, minutes of the limit, part of it that is used, seconds until it is submitted)"""
    draw = random.Random(seed)
    jobs = []
    for number in range(count):
        user = list(USERS)[number % len(USERS)]
        median, spread = USERS[user]
        minutes = max(least, min(120, round(median * draw.lognormvariate(0, spread))))
        jobs.append((user, draw.choices((1, 2, 4), (60, 25, 15))[0], minutes, draw.uniform(0.4, 1), draw.uniform(0, arrivals)))
    return sorted(jobs, key=lambda job: job[-1])


@contextlib.contextmanager
def advice(cluster, folder, options, policy):
    """An adviser that writes meanwhile; none without a policy."""
    if policy is None:
        yield
        return
    with open(options.log, "a") as log, subprocess.Popen(
            [options.program, "advise", "--write", "--policy", policy, "--interval", "1", "--writes-per-minute", "6000",
             "--state", folder], env=cluster.environment, stdout=log, stderr=log) as adviser:
        try:
            yield
        finally:
            adviser.terminate()


def run_jobs(cluster, jobs, minute, words=lambda job: ()):
    """Submits each job at its time, with these further words for sbatch, and waits for the end of all: Slurm's number -> job."""
    begin = time.monotonic()
    numbers = {}
    for job in jobs:
        user, gpus, minutes, part, after = job
        time.sleep(max(0, begin + after - time.monotonic()))
        number = int(cluster.client("sbatch", "--parsable", "--partition=main", f"--gres=gpu:{gpus}", "--nodes=1",
                                    f"--time={minutes}", "--output=/dev/null", *words(job),
                                    f"--wrap=sleep {minutes * part * minute:.2f}", user=user, cwd="/"))
        numbers[number] = job
    wait_until(lambda: not cluster.client("squeue", "--noheader"), "the end of all jobs", seconds=1800)
    return numbers


def play(jobs, options, policy):
    """Seconds that each job waited, by user; with advice of the policy, or None."""
    with tempfile.TemporaryDirectory() as folder, accounting.throw_away(ACCOUNTS, nodes=NODES, settings=SETTINGS) as cluster, \
            advice(cluster, folder, options, policy):
        numbers = run_jobs(cluster, jobs, options.minute)
        waits = {user: [] for user in USERS}
        for number, job in cluster.jobs().items():
            times = [time.mktime(time.strptime(job[key], "%Y-%m-%dT%H:%M:%S")) for key in ("SubmitTime", "StartTime")]
            waits[numbers[number][0]].append(times[1] - times[0])
        return waits


def summary(waits):
    every = [wait for of_user in waits.values() for wait in of_user]
    return {"jobs": len(every), "mean": round(statistics.mean(every), 2), "longest": max(every),
            "by_user": {user: round(statistics.mean(of_user), 2) for user, of_user in waits.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--policy", default="index")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of the jobs, one a run")
    parser.add_argument("--arrivals", type=float, default=30, help="seconds in which the jobs are submitted")
    parser.add_argument("--minute", type=float, default=0.7, help="seconds that stand for a minute of a time limit")
    parser.add_argument("--program", default=os.environ.get("ALLOT_PROGRAM", ROOT / "build" / "release" / "allot"))
    parser.add_argument("--log", default=os.devnull, help="what the adviser says")
    parser.add_argument("--out", help="file for the result")
    options = parser.parse_args()
    if accounting.missing():
        sys.exit(accounting.missing())
    runs = []
    for seed in options.seeds:
        jobs = make_jobs(options.jobs, seed, options.arrivals)
        own = summary(play(jobs, options, None))
        advised = summary(play(jobs, options, options.policy))
        runs.append({"seed": seed, "own": own, "advised": advised, "mean_ratio": round(advised["mean"] / own["mean"], 3),
                     "ratio_by_user": {user: round(advised["by_user"][user] / own["by_user"][user], 3) for user in USERS}})
    text = json.dumps({"policy": options.policy, "runs": runs, "load_average": round(os.getloadavg()[0], 1)}, indent=2)
    print(text)
    if options.out:
        Path(options.out).write_text(text + "\n")


if __name__ == "__main__":
    main()
