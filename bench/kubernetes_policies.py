#!/usr/bin/env python3
"""The same 30 jobs on a real Kubernetes control plane under several schedulers.

    bench/kubernetes_policies.py [--build build/release] [--checkpoint checkpoints/philly-elastic/accepted]
                                 [--repeats 3] [--out bench/results/kubernetes_policies.json]

Three throw-away control planes side by side (tests/live/control_plane.py), 20 GPUs each, that take the same jobs as
bench/live_policies.py at the same times: `allot serve` with the trained policy, `allot serve --policy fifo`, and
kube-scheduler with Kubernetes' own Job controller, which gives every job the GPUs that its user asked for, on one node.
kube-scheduler takes pods in order of creation, and passes over what has no room. Job completion times are Kubernetes':
completionTime minus creationTimestamp of the Job, in whole seconds.

The GPUs exist in the kubelets' books alone, so a job's speed is made, as in bench/live_policies.py. Under kube-scheduler
a job sleeps for as long as its steps would take at the size asked for: no start-up, no slow step. Needs `./dev kubernetes`,
and about five minutes a repeat, most of them spent waiting.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
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
from chaos import machine  # noqa: E402
from kube import ApiError  # noqa: E402
from live_policies import BATCH, INTERVAL, MOST, PACE, RESTART_COST, SCALING, mean, workload  # noqa: E402
from waiting import wait_until  # noqa: E402

BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"


class Daemon(Serve):
    """With a policy and times of its own."""

    def start(self, *arguments):
        with (self.folder / "serve.log").open("w") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--runtime", self.runtime, *arguments, "--state", self.state], stdout=log, stderr=log)
        return self


class Run:
    """The jobs on one control plane under one scheduler; no policy: kube-scheduler's."""

    def __init__(self, folder, build, policy):
        self.folder, self.build, self.policy = folder, build, policy
        folder.mkdir()

    def job(self, name, job):
        if self.policy is None:
            return job_of(name, ["sleep", f"{job['steps'] * PACE / job['gpus']**SCALING:.2f}"], managed=False,
                          gpus=job["gpus"])
        home = self.folder / name
        home.mkdir()
        return job_of(name, [self.build / "examples" / "elastic_counter", "--steps", job["steps"], "--pace-ms", 1000 * PACE,
                             "--batch", BATCH],
                      {"min": 1, "max": MOST, "gpus": job["gpus"], "model": "counter", "work": job["steps"] * BATCH},
                      env=[{"name": "ALLOT_RUN_DIR", "value": str(home)}])

    def let_all_in(self, api):
        """Here the GPUs are not allot's."""
        for binding in api.get(BINDINGS)["items"]:
            api.delete(f"{BINDINGS}/{binding['metadata']['name']}")

        def is_let_in():
            with contextlib.suppress(ApiError):
                return api.post(JOBS, self.job("first", {"steps": 1, "gpus": 1}), dryRun="All")
        wait_until(is_let_in, "the end of the admission policy")

    def submit_all(self, api, jobs):
        """At their times."""
        begin = time.monotonic()
        for number, job in enumerate(jobs):
            time.sleep(max(0.0, begin + job["submit"] - time.monotonic()))
            api.post(JOBS, self.job(f"j{number}", job))

    def times(self, jobs):
        with kubernetes.throw_away() as plane:
            api, daemon = plane.api(), None
            if self.policy is None:
                self.let_all_in(api)
            else:
                daemon = Daemon(self.build / "allot", plane, self.folder / "daemon").start(
                    *self.policy, "--interval", str(INTERVAL), "--restart-cost", str(RESTART_COST),
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
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--checkpoint", type=Path, default=ROOT / "checkpoints" / "philly-elastic" / "accepted")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for all that the runs leave")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if kubernetes.missing():
        sys.exit(kubernetes.missing())
    build = options.build.resolve()
    policies = {"learned": ("--checkpoint", str(options.checkpoint.resolve())), "fifo": ("--policy", "fifo"),
                "kube-scheduler": None}
    jobs = workload(options.seed, options.jobs, 5 * options.jobs)
    rows = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = options.keep or Path(name)
        folder.mkdir(exist_ok=True)
        profile = "".join(f"counter,v100,{n},{BATCH / PACE * n**SCALING}\n" for n in range(1, MOST + 1))
        (folder / "profiles.csv").write_text("profile,gpu_type,gpus,rate\n" + profile)
        for repeat in range(options.repeats):
            runs = {label: Run(folder / f"{label}-{repeat}", build, policy) for label, policy in policies.items()}
            with concurrent.futures.ThreadPoolExecutor(len(runs)) as pool:
                waiting = {label: pool.submit(run.times, jobs) for label, run in runs.items()}
                times = {label: mean(future.result()) for label, future in waiting.items()}
            rows.append({"average_jct_seconds": {label: round(value, 2) for label, value in times.items()},
                         "load_average": os.getloadavg()[1]})
            print(json.dumps(rows[-1]), flush=True)
    results = {"jobs": options.jobs, "seed": options.seed, "repeats": rows, "kubernetes": kubernetes.VERSION,
               "machine": machine()}
    if options.out:
        options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
