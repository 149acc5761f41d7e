#!/usr/bin/env python3
"""What it is worth to know who submits, where users differ in how long their jobs take.

    bench/submitters.py [--build build/release] [--workloads 10] [--users 60] [--between 0 0.75 1.5] [--within 1]
                        [--load 1.3] [--out bench/results/submitters.json]

Nine weeks of made-up jobs: a user's median run time is ten minutes times e^(between x normal), his runs are
log-normal around it with `within`. The policy index:basis=gittins knows the first three weeks as its history and plays
samples of the others: with the users, without that column, and with the users of all jobs exchanged at random, so that
they tell nothing; the same rule that is told all lengths shows how much there is to know. Each has the best of four
alphas on workloads of the two weeks before those of the test. Mean JCT over that without the column, paired by
workload, with its standard error.
"""

import argparse
import csv
import functools
import json
import math
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DAY = 86400
SPLIT = 21 * DAY
TEST = 33 * DAY
ALPHAS = (0.12, 0.25, 0.5, 1)
HEADER = ["job_id", "submit_s", "gpus", "duration_s", "user"]


def make_jobs(jobs, users, between, within, seed):
    """Rows of allot's CSV; user u submits in proportion to 1 / (u + 1)."""
    draw = random.Random(seed)
    medians = [600 * math.exp(between * draw.gauss(0, 1)) for _ in range(users)]
    shares = [1 / (u + 1) for u in range(users)]
    submits = sorted(draw.uniform(0, 3 * SPLIT) for _ in range(jobs))
    rows = []
    for i, submit in enumerate(submits):
        user = draw.choices(range(users), shares)[0]
        seconds = min(max(medians[user] * math.exp(within * draw.gauss(0, 1)), 10), 7 * DAY)
        gpus = draw.choices([1, 2, 4, 8], [70, 10, 10, 10])[0]
        rows.append([f"job{i}", f"{submit:.0f}", gpus, f"{seconds:.0f}", f"user{user}"])
    return rows


def write_csv(path, rows, users=None):
    """`users`: in place of those of the rows; an empty list: the column is left out."""
    names = [row[-1] for row in rows] if users is None else users
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(HEADER if names else HEADER[:-1])
        for i, row in enumerate(rows):
            out.writerow(row[:-1] + names[i:i + 1])
    return path


def exchanged(rows, seed):
    users = [row[-1] for row in rows]
    random.Random(seed).shuffle(users)
    return users


def mean_jcts(allot, trace, options, alpha, lengths="none"):
    """Of the policy, by workload; `lengths` "true": of the same rule told every length."""
    basis = "remaining" if lengths == "true" else f"gittins,history={trace}@{SPLIT}"
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([allot, "compare", "--quiet", "--workload", trace, "--length-estimates", lengths, *options,
                        "--policies", f"index:alpha={alpha},basis={basis}", "--out", out], check=True,
                       stdout=subprocess.DEVNULL)
        evaluation = json.loads((Path(out) / "evaluation.json").read_text())
    return [run["avg_jct_s"] for run in evaluation["policies"][0]["runs"]]


def tuned(allot, trace, options, workloads, lengths="none"):
    """Of the best of a few weights of short time by four workloads of the fourth and fifth week; tested after these."""
    trial = [*options, "--workloads", "4", "--from", str(SPLIT), "--to", str(TEST)]
    alpha = min(ALPHAS, key=lambda alpha: statistics.fmean(mean_jcts(allot, trace, trial, alpha, lengths)))
    test = [*options, "--workloads", str(workloads), "--from", str(TEST)]
    return mean_jcts(allot, trace, test, alpha, lengths)


def ratio(ours, theirs):
    """Geometric mean of the paired ratios, and its standard error."""
    logs = [math.log(a / b) for a, b in zip(ours, theirs, strict=True)]
    mean = math.exp(statistics.fmean(logs))
    return mean, mean * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.nan


def measure(allot, rows, options, workloads, seed=1):
    """{which users: (ratio, standard error)} to what is reached without the column."""
    with tempfile.TemporaryDirectory() as folder:
        write = functools.partial(write_csv, rows=rows)
        without = write(f"{folder}/without.csv", users=[])
        plain = tuned(allot, without, options, workloads)
        others = {"users": (write(f"{folder}/users.csv"), "none"),
                  "exchanged": (write(f"{folder}/exchanged.csv", users=exchanged(rows, seed)), "none"),
                  "lengths": (without, "true")}
        return {name: ratio(tuned(allot, trace, options, workloads, lengths), plain)
                for name, (trace, lengths) in others.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--jobs", type=int, default=150000)
    parser.add_argument("--users", type=int, default=60)
    parser.add_argument("--between", type=float, nargs="+", default=[0, 0.75, 1.5])
    parser.add_argument("--within", type=float, default=1)
    parser.add_argument("--workloads", type=int, default=10)
    parser.add_argument("--load", default="1.3")
    parser.add_argument("--cluster", default="4x8")
    parser.add_argument("--out", type=Path)
    a = parser.parse_args()
    results = []
    for between in a.between:
        rows = make_jobs(a.jobs, a.users, between, a.within, seed=1)
        for rigid in (True, False):
            options = ["--cluster", a.cluster, "--load", a.load, "--span", "3d",
                       *(["--rigid"] if rigid else ["--elastic"])]
            found = measure(a.build / "allot", rows, options, a.workloads)
            results.append({"between": between, "jobs": "rigid" if rigid else "elastic",
                            **{key: [round(x, 4) for x in value] for key, value in found.items()}})
            print(f"e^{between}, {results[-1]['jobs']}: "
                  + ", ".join(f"{key} {mean:.3f} +- {error:.3f}" for key, (mean, error) in found.items()), flush=True)
    if a.out:
        shown = {key: value for key, value in vars(a).items() if key not in ("build", "out")}
        a.out.write_text(json.dumps({"options": shown, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
