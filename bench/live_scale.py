#!/usr/bin/env python3
"""What many waiting jobs cost the daemon on a real Slurm.

    bench/live_scale.py [--build build/release] [--jobs 10000] [--seconds 60] [--out FILE]

A throw-away cluster (tests/live/cluster.py) whose GPUs are held by jobs of one size that end later, and so many elastic jobs in the
queue. Under each policy the daemon is watched for a while with the interval and the polls that it has by default, and while a
job a second is submitted and another cancelled, so that it decides all the time. Of the daemon alone: the time of a decision
(by the wall clock: other load makes it longer), its share of a core, its memory then and the most it ever had, and the CPU time
of an `allot status`. It is watched by its metrics, once a second, as an operator's Prometheus does.

In three settings: a daemon that is in charge, without forecasts, as none can tell who starts when on GPUs that others hold; then,
when these jobs have ended, a dry run before 20 free GPUs, which nobody takes; and the same with the forecasts that are made by
default. The last two differ by the forecasts alone.
`allot bench live --measure scale` runs this.
"""

import argparse
import concurrent.futures
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "live"))
import cluster as slurm  # noqa: E402
from waiting import cpu_seconds, wait_until  # noqa: E402

USER = "nobody" if os.getuid() == 0 else None
SETTINGS = {"MaxJobCount": 50000, "MinJobAge": 300}
POLICIES = {"index": ["--policy", "index"], "drf": ["--policy", "drf"],
            "trained": ["--checkpoint", ROOT / "checkpoints" / "philly-elastic" / "accepted"]}
SETTINGS_OF_DAEMON = {"in_charge": ["--forecast-every=0"], "dry_run": ["--dry-run", "--forecast-every=0"],
                      "dry_run_with_forecasts": ["--dry-run"]}
MODELS = (" model=resnet50", " model=vgg16", " model=inception3", "")


def submit(cluster, comment, *options, command="true"):
    return int(cluster.client("sbatch", "--parsable", "--output=/dev/null", f"--comment={comment}", *options, f"--wrap={command}",
                              user=USER, cwd="/tmp"))


def memory_mb(process, field):
    return round(int(re.search(rf"{field}:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024, 1)


class Daemon:
    def __init__(self, build, cluster, folder, arguments):
        self.program, self.state = build / "allot", folder
        self.metrics_at = f"127.0.0.1:{slurm.free_ports(1)[0]}"
        command = [self.program, "serve", "--runtime", "slurm", "--state", folder, f"--metrics=tcp:{self.metrics_at}",
                   *arguments]
        with (folder.parent / f"{folder.name}.log").open("w") as log:
            self.process = subprocess.Popen(command, env=cluster.environment, stdout=log, stderr=log)

    def metrics(self):
        """Name with labels -> value; none before the daemon answers."""
        try:
            with urllib.request.urlopen(f"http://{self.metrics_at}/metrics", timeout=10) as answer:
                text = answer.read().decode()
        except (urllib.error.URLError, ConnectionError):
            return {}
        return {name: float(value) for name, value in re.findall(r"^(\w+(?:\{.*\})?) (\S+)$", text, re.MULTILINE)}

    def knows(self, jobs):
        def known():
            return sum(value for name, value in self.metrics().items() if name.startswith("allot_jobs{"))
        wait_until(lambda: known() >= jobs, f"{jobs} jobs to be known", 600)

    def status_cpu(self):
        """Of the daemon, for one that somebody asks for."""
        used = cpu_seconds(self.process)
        subprocess.run([self.program, "status", "--json", "--state", self.state], capture_output=True, check=True)
        return round(cpu_seconds(self.process) - used, 2)

    def forecasts(self):
        """How many there were, the CPU time of the last one, and how far it looks."""
        metrics = self.metrics()
        return {what: round(metrics[f"allot_forecast{name}"], 2) for what, name in
                (("made", "s_total"), ("failed", "s_failed_total"), ("cpu_s", "_cpu_seconds"), ("ahead_s", "_horizon_seconds"))}

    def watch(self, seconds, meanwhile):
        """`meanwhile` is called once a second."""
        begin, used, before, decisions = time.monotonic(), cpu_seconds(self.process), self.metrics(), []
        while (now := time.monotonic()) - begin < seconds:
            meanwhile()
            time.sleep(max(0.0, now + 1 - time.monotonic()))
            after = self.metrics()
            count, took = (after[f"allot_decision_seconds_{of}"] - before[f"allot_decision_seconds_{of}"] for of in ("count", "sum"))
            if count:
                decisions.append(1000 * took / count)
                before = after
        share = (cpu_seconds(self.process) - used) / (time.monotonic() - begin)
        times = {"median": round(statistics.median(decisions), 2), "most": round(max(decisions), 2)} if decisions else {}
        return {"decision_ms": times | {"seen": len(decisions)}, "cpu_share_of_a_core": round(share, 4),
                "resident_mb": memory_mb(self.process, "VmRSS"), "most_resident_mb": memory_mb(self.process, "VmHWM")}

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def hold_all_gpus(build, cluster, folder):
    """By jobs that run till the end: no policy sees them."""
    for _, _, kind, gpus in cluster.nodes:
        submit(cluster, "", f"--gres=gpu:{kind}:{gpus}", command="sleep 100000")
    folder.mkdir()
    daemon = Daemon(build, cluster, folder, ["--policy", "fifo"])
    total = sum(gpus for *_, gpus in cluster.nodes)
    wait_until(lambda: sum(cluster.gpus_in_use().values()) == total, "all GPUs to be held")
    daemon.end()


def watch(build, cluster, state, arguments, numbers, seconds):
    """`numbers`: of the jobs that wait, the oldest first."""
    state.mkdir()
    daemon = Daemon(build, cluster, state, arguments)

    def change():
        cluster.client("scancel", str(numbers.pop(0)))
        numbers.append(submit(cluster, "allot min=1 max=8"))
    try:
        daemon.knows(len(numbers))
        time.sleep(40)  # what was new at the start is done, and what a look costs is known
        seen = {"idle": daemon.watch(seconds, lambda: None), "a_job_a_second": daemon.watch(seconds, change)}
        if "--forecast-every=0" not in arguments:
            seen["forecasts"] = daemon.forecasts()
        if "--dry-run" not in arguments:
            seen |= {"status_cpu_s": daemon.status_cpu(), "journal_mb": round((state / "journal.jsonl").stat().st_size / 2**20, 1)}
        return seen | {"load_average": round(os.getloadavg()[0], 1)}
    finally:
        daemon.end()


def measure(build, folder, jobs, seconds):
    with slurm.throw_away(settings=SETTINGS) as cluster:
        hold_all_gpus(build, cluster, folder / "first")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            numbers = list(pool.map(lambda i: submit(cluster, "allot min=1 max=8" + MODELS[i % len(MODELS)]), range(jobs)))
        results = {"jobs": jobs}
        for kind, more in SETTINGS_OF_DAEMON.items():
            if kind == "dry_run":
                cluster.client("scancel", "--state=RUNNING", "--user", USER or str(os.getuid()))
                wait_until(lambda: not sum(cluster.gpus_in_use().values()), "all GPUs to be free")
            results[kind] = {}
            for name, arguments in POLICIES.items():
                seen = watch(build, cluster, folder / f"{kind}-{name}", [*arguments, *more], numbers, seconds)
                results[kind][name] = seen
                print(kind, name, seen, file=sys.stderr, flush=True)
        results["slurm"] = cluster.client("scontrol", "--version").strip()
    return results | {"cores": os.cpu_count()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--jobs", type=int, default=10000)
    parser.add_argument("--seconds", type=float, default=60, help="for which a daemon is watched")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if slurm.missing():
        sys.exit(slurm.missing())
    with tempfile.TemporaryDirectory() as folder:
        results = measure(options.build.resolve(), Path(folder), options.jobs, options.seconds)
    text = json.dumps(results, indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
