#!/usr/bin/env python3
"""The same 30 jobs on a real Kubernetes control plane under several schedulers.

    bench/kubernetes_policies.py [--setting heavy-tailed|dl2] [--build build/release] [--checkpoint CHECKPOINT]
                                 [--repeats 3] [--out bench/results/kubernetes_policies.json]

Throw-away control planes side by side (tests/live/control_plane.py) that take the same jobs at the same times: `allot
serve` with the trained policy, with rules, and kube-scheduler with Kubernetes' own Job controller, which gives every job
the GPUs that its user asked for, on one node. kube-scheduler takes pods in order of creation, and passes over what has no
room. Job completion times are Kubernetes': completionTime minus creationTimestamp of the Job, in whole seconds.

Setting `heavy-tailed`: the jobs of bench/live_policies.py on 20 GPUs; the policy that learned from Philly, and FIFO.
Setting `dl2`: jobs of DL2's testbed (Peng et al., IEEE TPDS 2021, section 6): the six of its eight models that train on
GPUs, each with its measured speeds and its epochs (traces/dl2_speeds.csv, epoch unit 1000), at most five arrivals a slot,
six servers of two GPUs; times divided by 30, so that a slot of 300 s takes 10 s. A worker is a GPU with its parameter
server. The policy for all worlds, and what DL2 compares itself with: DRF and Optimus. Users of a cluster without elastic
jobs ask for one GPU or two.

The GPUs exist in the kubelets' books alone, so a job's speed is made, as in bench/live_policies.py. Under kube-scheduler
a job sleeps for as long as its steps would take at the size asked for: no start-up, no slow step. Needs `./dev kubernetes`,
and five to nine minutes a repeat, most of them spent waiting.
"""

import argparse
import concurrent.futures
import contextlib
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "live"))
import control_plane as kubernetes  # noqa: E402
from allot_on_kubernetes import JOBS, Serve, job_of  # noqa: E402
from kube import ApiError  # noqa: E402
from live_policies import BATCH, INTERVAL, MOST, PACE, RESTART_COST, SCALING, mean, workload  # noqa: E402
from machine import machine  # noqa: E402
from waiting import wait_until  # noqa: E402

BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"


def heavy_tailed(seed, count):
    """The jobs of bench/live_policies.py: submit, GPUs asked for, steps, model, what 1, 2, ... workers are worth."""
    worth = [n**SCALING for n in range(1, MOST + 1)]
    return [{**job, "model": "counter", "worth": worth} for job in workload(seed, count, 5 * count)]


def dl2(seed, count):
    """The same of DL2's testbed."""
    faster, slot, most = 30, 300, 5
    speeds = {}  # model -> [speed of n workers with n parameter servers]
    work = {}  # model -> its work over its speed with one worker, in seconds
    with (ROOT / "traces" / "dl2_speeds.csv").open() as table:
        for row in csv.DictReader(table):
            servers, model = int(row["servers"]), row["model"]
            if row["worker_gpu_slots"] == "0" or servers > 12:
                continue
            speed = float(row[f"w{servers}"])
            # More workers than help are given nothing to do.
            speeds.setdefault(model, []).append(max([speed, *speeds.get(model, [])]))
            work[model] = int(1000 * float(row["epochs"])) * float(row["epoch_size"]) / speeds[model][0]
    draw = random.Random(seed)
    times = []
    while len(times) < count:
        begin = slot * (times[-1] // slot + 1) if times else 0
        times += sorted(begin + draw.uniform(0, slot) for _ in range(draw.randint(1, most)))
    jobs = []
    for submit in times[:count]:
        model = draw.choice(sorted(speeds))
        jobs.append({"submit": (submit - times[0]) / faster, "gpus": draw.choice((1, 2)), "model": model,
                     "steps": max(1, round(work[model] / faster / PACE)),
                     "worth": [speed / speeds[model][0] for speed in speeds[model]]})
    return jobs


# Jobs, nodes, decisions every so many seconds, checkpoint and the rest of its policy, rules.
SETTINGS = {
    "heavy-tailed": (heavy_tailed, kubernetes.NODES, INTERVAL, "philly-elastic", "", ("fifo",)),
    "dl2": (dl2, tuple((f"n{n}", "v100", 2) for n in range(1, 7)), 10, "universal", ",world=default", ("drf", "optimus")),
}


class Daemon(Serve):
    """With a policy and times of its own."""

    def start(self, *arguments):
        with (self.folder / "serve.log").open("w") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--runtime", self.runtime, *arguments, "--state", self.state], stdout=log, stderr=log)
        return self


class Run:
    """The jobs on one control plane under one scheduler; no policy: kube-scheduler's."""

    def __init__(self, folder, build, policy, nodes, interval):
        self.folder, self.build, self.policy, self.nodes, self.interval = folder, build, policy, nodes, interval
        folder.mkdir()

    def job(self, name, job):
        if self.policy is None:
            return job_of(name, ["sleep", f"{job['steps'] * PACE / job['worth'][job['gpus'] - 1]:.2f}"], managed=False,
                          gpus=job["gpus"])
        home = self.folder / name
        home.mkdir()
        return job_of(name, [self.build / "examples" / "elastic_counter", "--steps", job["steps"], "--pace-ms", 1000 * PACE,
                             "--batch", BATCH, "--worth", ",".join(f"{worth:.4f}" for worth in job["worth"])],
                      {"min": 1, "max": len(job["worth"]), "gpus": job["gpus"], "model": job["model"],
                       "work": job["steps"] * BATCH},
                      env=[{"name": "ALLOT_RUN_DIR", "value": str(home)}])

    def let_all_in(self, api):
        """Here the GPUs are not allot's."""
        for binding in api.get(BINDINGS)["items"]:
            api.delete(f"{BINDINGS}/{binding['metadata']['name']}")

        def is_let_in():
            with contextlib.suppress(ApiError):
                return api.post(JOBS, self.job("first", {"steps": 1, "gpus": 1, "worth": [1]}), dryRun="All")
        wait_until(is_let_in, "the end of the admission policy")

    def submit_all(self, api, jobs):
        """At their times."""
        begin = time.monotonic()
        for number, job in enumerate(jobs):
            time.sleep(max(0.0, begin + job["submit"] - time.monotonic()))
            api.post(JOBS, self.job(f"j{number}", job))

    def times(self, jobs):
        with kubernetes.throw_away(nodes=self.nodes) as plane:
            api, daemon = plane.api(), None
            if self.policy is None:
                self.let_all_in(api)
            else:
                daemon = Daemon(self.build / "allot", plane, self.folder / "daemon").start(
                    *self.policy, "--interval", str(self.interval), "--restart-cost", str(RESTART_COST),
                    "--catalogue", self.folder.parent / "profiles.csv")
                wait_until(daemon.status, "the daemon")
            try:
                self.submit_all(api, jobs)
                return self.wait(api, jobs, daemon)
            finally:
                if daemon is not None:
                    daemon.end()

    def wait(self, api, jobs, daemon):
        """Seconds from creation to completion of every job, in order of submission."""
        ended = {}

        def all_ended():
            time.sleep(1)
            for job in api.get(JOBS)["items"]:
                types = {c["type"] for c in job["status"].get("conditions", []) if c["status"] == "True"}
                assert "Failed" not in types, job
                if "Complete" in types:
                    ended[job["metadata"]["name"]] = job
            return len(ended) == len(jobs)

        wait_until(all_ended, lambda: f"{sorted(ended)}: {daemon.log()[-3000:] if daemon else ''}", 1800)

        def at(text):
            return datetime.fromisoformat(text).timestamp()
        return [at(ended[f"j{n}"]["status"]["completionTime"]) - at(ended[f"j{n}"]["metadata"]["creationTimestamp"])
                for n in range(len(jobs))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setting", choices=SETTINGS, default="heavy-tailed")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--checkpoint", type=Path, help="of the trained policy (default: as the setting says)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for all that the runs leave")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if kubernetes.missing():
        sys.exit(kubernetes.missing())
    build = options.build.resolve()
    make, nodes, interval, trained, rest, rules = SETTINGS[options.setting]
    checkpoint = options.checkpoint or ROOT / "checkpoints" / trained / "accepted"
    policies = {"learned": ("--policy", f"learned:checkpoint={checkpoint.resolve()}{rest}"),
                **{rule: ("--policy", rule) for rule in rules}, "kube-scheduler": None}
    jobs = make(options.seed, options.jobs)
    rows = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = options.keep or Path(name)
        folder.mkdir(exist_ok=True)
        profiles = {job["model"]: job["worth"] for job in jobs}
        (folder / "profiles.csv").write_text("profile,gpu_type,gpus,rate\n" + "".join(
            f"{model},v100,{n},{BATCH / PACE * rate}\n" for model, worth in profiles.items()
            for n, rate in enumerate(worth, 1)))
        for repeat in range(options.repeats):
            runs = {label: Run(folder / f"{label}-{repeat}", build, policy, nodes, interval)
                    for label, policy in policies.items()}
            with concurrent.futures.ThreadPoolExecutor(len(runs)) as pool:
                waiting = {label: pool.submit(run.times, jobs) for label, run in runs.items()}
                times = {label: mean(future.result()) for label, future in waiting.items()}
            rows.append({"average_jct_seconds": {label: round(value, 2) for label, value in times.items()},
                         "load_average": os.getloadavg()[1]})
            print(json.dumps(rows[-1]), flush=True)
            results = {"setting": options.setting, "jobs": options.jobs, "seed": options.seed, "repeats": rows,
                       "kubernetes": kubernetes.VERSION, "machine": machine()}
            if options.out:
                options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
