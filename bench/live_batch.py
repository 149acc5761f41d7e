#!/usr/bin/env python3
"""Seconds to a validation loss on a real Slurm, with a batch that follows GPUs and noise, and with a fixed one.

    bench/live_batch.py [--build build/release] [--repeats 5] [--policy index] [--out FILE]

Starts a throw-away cluster (tests/live/cluster.py) of 20 GPUs under `allot serve`. In each repeat two jobs, examples/mlp.cc
and examples/cnn.cc, train together until their validation loss is low enough: once with `--most-batch`, so that the daemon
chooses their batch by goodput, and once with the batch that they began with, under the same policy and with the same seed.
The order of the two alternates. Seconds are from when the daemon sees a job to its end, as its journal tells them.

The GPUs exist in Slurm's books alone, so the time of a pass is made (--pace-ms and --pace-us of the examples); its
synchronisation, the gradients and their noise are real. `bench/live.py` has this as its row `batch`. Needs what
tests/integration/slurm_test.py needs.
"""

import argparse
import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "live"))
import cluster as slurm  # noqa: E402
from waiting import wait_until  # noqa: E402

USER = "nobody" if os.getuid() == 0 else None
MOST = 4  # GPUs of a job
POLICY = "index:sizes=1|2|4"
# Program, its options, and the loss at which it ends. Learning rates are the best of three for the fixed batch (0.02, 0.05 and
# 0.1; 0.01, 0.03 and 0.1). What keeps gradients noisy, as real data does, is noise in the inputs, and labels of which one in
# five is wrong (two in five are of another sample, of two classes): the least loss that the convolutions come to is 0.519.
JOBS = {
    "mlp": "--batch 32 --noise 0.5 --rate 0.02 --until-loss 0.098 --pace-ms 25 --pace-us 300",
    "cnn": "--batch 16 --mislabel 0.4 --rate 0.03 --until-loss 0.524 --pace-ms 40 --pace-us 1000",
}
ADAPTS = "--most-batch 2048 --most-local 512"


def journal(state):
    return [json.loads(line) for line in (state / "journal.jsonl").read_text().splitlines()]


class Run:
    """One cluster with one daemon."""

    def __init__(self, folder, build, policy):
        self.folder, self.build, self.state, self.rounds = folder, build, folder / "state", 0
        folder.mkdir()
        folder.chmod(0o755)
        self.cluster = slurm.Cluster(folder / "cluster", settings={"MinJobAge": 86400})
        self.policy, self.daemon = policy, None

    def __enter__(self):
        self.cluster.__enter__()
        with (self.folder / "serve.log").open("w") as log:
            self.daemon = subprocess.Popen(
                [self.build / "allot", "serve", "--runtime", "slurm", "--policy", self.policy, "--state", self.state,
                 "--interval", "2"], env=self.cluster.environment, stdout=log, stderr=log)
        status = [self.build / "allot", "status", "--json", "--state", self.state]
        wait_until(lambda: subprocess.run(status, capture_output=True).returncode == 0, "the daemon")
        return self

    def __exit__(self, *error):
        self.daemon.send_signal(signal.SIGTERM)
        try:
            self.daemon.wait(60)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
        self.cluster.__exit__(*error)

    def submit(self, name, options):
        home = self.folder / f"{name}-{self.rounds}"
        home.mkdir()
        home.chmod(0o1777)
        (home / "train.sh").write_text(f'#!/bin/bash\n"{self.build}/allot-elastic" run -- '
                                       f'"{self.build}/examples/elastic_{name}" --steps 1000000 {options}\n')
        return int(self.cluster.client("sbatch", "--parsable", f"--comment=allot min=1 max={MOST} gpus=1", "train.sh",
                                       user=USER, cwd=home))

    def round(self, adapts):
        """Both jobs at once; of each what came of it."""
        self.rounds += 1
        numbers = {name: self.submit(name, options + (f" {ADAPTS}" if adapts else "")) for name, options in JOBS.items()}

        def over(number):
            return next((r for r in journal(self.state) if r["what"] == "over" and r["job"].startswith(f"{number}-")), None)

        ends = {name: wait_until(lambda: over(number), f"{name} to end", 600) for name, number in numbers.items()}
        return {name: self.outcome(end) for name, end in ends.items()}

    def outcome(self, end):
        assert end["state"] == "finished", end
        records = [r for r in journal(self.state) if r.get("job") == end["job"]]
        seen = next(r for r in records if r["what"] == "job")
        told = [r for r in records if r["what"] == "trains with"]
        return {"seconds": end["at"] - seen["at"], "steps": end["step"], "work": end["work"],
                "gpu_seconds": end["gpu_seconds"],
                "told": [[r["gpus"], round(r["noise"], 1), r["total"]] for r in told]}


def follows(outcomes):
    """Spearman's rank correlation of noise and chosen batch, over all choices for MOST GPUs but each job's first one, which
    rests on the times of one batch."""
    pairs = [(noise, total) for outcome in outcomes for gpus, noise, total in outcome["told"][1:] if gpus == MOST]
    if len(pairs) < 3 or len({total for _, total in pairs}) < 2:
        return None

    def ranks(values):
        return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]

    return round(statistics.correlation(*(ranks(list(column)) for column in zip(*pairs))), 3)


def measure(folder, build, repeats, policy=POLICY):
    outcomes = {name: {"follows": [], "fixed": []} for name in JOBS}
    loads = []
    with Run(folder / "batch", build, policy) as run:
        for repeat in range(repeats):
            for adapts in ((True, False), (False, True))[repeat % 2]:
                for name, outcome in run.round(adapts).items():
                    outcomes[name]["follows" if adapts else "fixed"].append(outcome)
                    print(f"repeat {repeat} {name} {'follows' if adapts else 'fixed'}: {outcome['seconds']:.1f} s, "
                          f"{outcome['steps']} steps, told {outcome['told'][-4:]}", file=sys.stderr, flush=True)
                loads.append(os.getloadavg()[0])
    results = {"policy": policy, "repeats": repeats, "load_average": round(statistics.median(loads), 1), "jobs": JOBS,
               "follows": ADAPTS}
    for name, of in outcomes.items():
        seconds = {kind: [round(o["seconds"], 2) for o in of[kind]] for kind in of}
        ratios = [a / b for a, b in zip(seconds["follows"], seconds["fixed"])]
        results[name] = {
            "seconds": seconds, "ratio_geometric_mean": round(math.exp(statistics.fmean(map(math.log, ratios))), 3),
            "ratios": [round(ratio, 3) for ratio in ratios],
            "steps": {kind: [o["steps"] for o in of[kind]] for kind in of},
            "gpu_seconds": {kind: [round(o["gpu_seconds"], 1) for o in of[kind]] for kind in of},
            "noise_and_batch_rank_correlation": follows(of["follows"]),
            "told_gpus_noise_batch": [o["told"] for o in of["follows"]]}
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--policy", default=POLICY)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if slurm.missing():
        sys.exit(slurm.missing())
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        results = measure(Path(folder), options.build.resolve(), options.repeats, options.policy)
    text = re.sub(r"\[\s+([^\[\]]*?)\s+\]", lambda m: "[" + re.sub(r"\s+", " ", m[1]) + "]", json.dumps(results, indent=2))
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
