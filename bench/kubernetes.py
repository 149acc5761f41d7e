#!/usr/bin/env python3
"""How long resizes and failures take on a real Kubernetes control plane whose kubelets have no containers.

    bench/kubernetes.py [--build build/release] [--tries 7] [--measure failures|scale]
                        [--out bench/results/kubernetes.json]

Starts a throw-away control plane (tests/live/control_plane.py) and `allot serve` with policy drf on it. One elastic job
(examples/elastic_mlp, libtorch) has the 4 GPUs of a type; another that asks for 2 comes and goes, so that the first shrinks
and grows by 2. Then a worker is killed, then the API server, then the daemon that holds the Lease. Needs `./dev kubernetes`.
--measure scale: instead of all that, what 1,000 Jobs on 100 nodes cost the daemon (kubernetes_scale.py).
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "live"))
import control_plane as kubernetes  # noqa: E402
import kubernetes_scale  # noqa: E402
from allot_on_kubernetes import JOBS, Serve, clear, job_of, pods_of  # noqa: E402
from cluster import free_ports  # noqa: E402
from machine import machine  # noqa: E402
from waiting import json_of, wait_until  # noqa: E402

GONE = {"propagationPolicy": "Background"}


def summary(seconds):
    ordered = sorted(seconds)
    return {"median": round(statistics.median(ordered), 3), "least": round(ordered[0], 3),
            "most": round(ordered[-1], 3), "tries": len(ordered)}


class Bench:
    def __init__(self, plane, build, folder):
        self.plane, self.folder = plane, folder
        self.train, self.admin = build / "examples" / "elastic_mlp", plane.api()
        (folder / "key").write_text("0123456789abcdef0123456789abcdef\n")
        (folder / "key").chmod(0o600)
        shared = {"lease": "allot/allot", "key": folder / "key", "listen": f"tcp:127.0.0.1:{free_ports(1)[0]}"}
        self.first, self.second = (Serve(build / "allot", plane, folder / name, **shared) for name in ("first", "second"))
        self.serve, self.seen = self.first.start(), 0

    def submit(self, name, low, high):
        home = self.folder / f"{name}-{time.monotonic_ns()}"
        home.mkdir()
        body = job_of(name, [self.train, "--steps", 100000000, "--pace-ms", 20],
                      {"min": low, "max": high, "types": "p100", "gpus": low},
                      env=[{"name": "ALLOT_RUN_DIR", "value": str(home)}, {"name": "OMP_NUM_THREADS", "value": "1"}])
        self.admin.post(JOBS, body)

    def record(self, what, **of):
        """The next record of the journal behind those that were seen, with the seconds at which it was written."""
        def found():
            records = json_of(self.serve.state / "journal.jsonl")
            for number, one in enumerate(records[self.seen:], self.seen + 1):
                if one["what"] == what and f".{of['name']}." in one.get("job", ""):
                    self.seen = number
                    origin = next(r["origin"] for r in records if r["what"] == "serve")
                    return {**one, "unix": origin + one["at"]}
            return None
        return wait_until(found, lambda: f"'{what}' of {of}: {self.serve.log()[-2000:]}")

    def running(self, name, count, since):
        wait_until(lambda: sum(pod["status"]["phase"] == "Running" for pod in pods_of(self.plane, name)) == count,
                   f"{count} pods of {name}")
        return time.time() - since

    def resizes(self, tries):
        """Of the job `a` between 4 and 2 GPUs."""
        grow, pods, shrink, gone, free = [], [], [], [], []
        for _ in range(tries):
            time.sleep(1)
            before = self.epochs(2)
            self.submit("b", 2, 2)
            given = self.record("give", name="a")
            wait_until(lambda before=before: self.epochs(2) > before, "two to train")
            shrink.append(time.time() - given["unix"])
            gone.append(self.running("a", 2, given["unix"]))
            free.append(self.record("trains", name="a")["took"])  # of a shrunk job: those that left hold nothing any more
            self.serve.training("b", gpus=2)
            time.sleep(1)
            self.admin.delete(f"{JOBS}/b", GONE)
            given = self.record("give", name="a")
            pods.append(self.running("a", 4, given["unix"]))
            grow.append(self.record("trains", name="a")["took"])
        return {"grow_by_2_seconds": summary(grow), "grow_pods_running_seconds": summary(pods),
                "shrink_by_2_seconds": summary(shrink), "shrink_pods_gone_seconds": summary(gone),
                "shrink_gpus_free_seconds": summary(free)}

    def epochs(self, world):
        """Of so many workers, as their programs printed them."""
        logs = "".join(log.read_text(errors="replace") for log in self.plane.folder.glob("node/*/*/log"))
        return len(re.findall(rf"^joined rank=\d+ world={world}\b", logs, re.MULTILINE))

    def kills(self, tries):
        """Of worker 0 of 4: until three train, and until its replacement is asked for."""
        train, asked = [], []
        for _ in range(tries):
            time.sleep(2)
            before = self.epochs(3)
            pod = pods_of(self.plane, "a")[0]
            state = self.plane.folder / "node" / pod["spec"]["nodeName"] / pod["metadata"]["uid"] / "state"
            began, clock = time.monotonic(), time.time()
            os.killpg(json.loads(state.read_text())["pid"], signal.SIGKILL)
            wait_until(lambda: self.epochs(3) > before, "three to train")
            train.append(time.monotonic() - began)
            asked.append(self.record("start", name="a")["unix"] - clock)
            self.serve.training("a", gpus=4)
        return {"killed_survivors_train_seconds": summary(train), "killed_replacement_asked_seconds": summary(asked)}

    def outages(self, tries):
        """From an API server that answers again, to a job that trains which came then."""
        seconds, lost = [], 0
        for _ in range(tries):
            before = self.serve.training("a", gpus=4)["step"]
            self.plane.kill("apiserver")
            wait_until(lambda: "no answer from" in self.serve.log(), "the daemon to notice")
            lost += self.serve.training("a", behind=before)["step"] <= before
            self.plane.start_part("apiserver")
            self.plane.until(self.plane.answers, "the API server")
            began = time.monotonic()
            self.submit("b", 2, 2)
            self.serve.training("b", gpus=2)
            seconds.append(time.monotonic() - began)
            self.admin = self.plane.api()
            self.admin.delete(f"{JOBS}/b", GONE)
            self.serve.training("a", gpus=4)
        return {"api_server_back_to_resized_seconds": summary(seconds), "steps_lost": lost}

    def takeovers(self, tries):
        """From the leader's kill -9 to the standby's word that the job trains; workers that were started anew."""
        seconds, anew = [], 0
        for _ in range(tries):
            standby = self.second if self.serve is self.first else self.first
            before, workers = self.serve.training("a", gpus=4)["step"], {p["metadata"]["uid"] for p in pods_of(self.plane, "a")}
            standby.start()
            wait_until(lambda: "waiting for the lease" in standby.log().rsplit("acquired the lease", maxsplit=1)[-1], "a standby")
            self.serve.end()
            began = time.monotonic()
            standby.training("a", gpus=4, behind=before)
            seconds.append(time.monotonic() - began)
            anew += len({p["metadata"]["uid"] for p in pods_of(self.plane, "a")} - workers)
            self.serve = standby
        return {"standby_in_charge_seconds": summary(seconds), "workers_started_anew": anew}

    def measure(self, tries):
        try:
            self.submit("a", 2, 4)
            self.serve.training("a", gpus=4)
            self.record("trains", name="a")
            few = max(1, tries // 3)
            return {**self.resizes(tries), **self.kills(tries), **self.outages(few), **self.takeovers(few)}
        finally:
            for one in (self.first, self.second):
                if one.process is not None and one.process.poll() is None:
                    one.end()
            clear(self.plane)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--tries", type=int, default=7)
    parser.add_argument("--measure", choices=("failures", "scale"), default="failures")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if kubernetes.missing():
        sys.exit(kubernetes.missing())
    load = os.getloadavg()[0]
    if options.measure == "scale":
        results = kubernetes_scale.measure(options.build.resolve())
    else:
        with tempfile.TemporaryDirectory() as folder, kubernetes.throw_away() as plane:
            results = Bench(plane, options.build.resolve(), Path(folder)).measure(options.tries)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=False)
    results |= {"kubernetes": kubernetes.VERSION, "machine": machine() | {"load_before": load}, "commit": commit.stdout.strip()}
    text = json.dumps(results, indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
