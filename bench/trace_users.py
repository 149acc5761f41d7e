#!/usr/bin/env python3
"""What it is worth on a real trace to know who submits.

    bench/trace_users.py TRACE [--build build/release] [--cluster 20x8] [--tune 5d] [--test 8d] [--end 20d]
                         [--windows 4] [--draws 2] [--load 1 1.3]
                         [--index half-life=3,unfinished=true] [--out FILE]

TRACE: any format with users. The time from --test to --end (counted from the first submission) is cut into windows of the
same length; in each the policy index:basis=gittins plays --draws samples of the jobs and knows what was submitted
before the window. Four ways: without the column of users, with it, with the users of all jobs exchanged at random, and told all
lengths. Each has the best of four alphas by the days from --tune to --test. Mean JCT over that without the column:
geometric mean, with Student's 95 % interval over windows (docs/adr/0046: draws of one window are not independent).
"""

import argparse
import csv
import json
import math
import statistics
import subprocess
import tempfile
from pathlib import Path

from submitters import ALPHAS, DAY, ROOT, exchanged, write_csv

T95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}  # by number of windows


def read_rows(allot, trace, cluster, folder):
    """Rows of submitters.write_csv, time 0 at the first submission."""
    path = f"{folder}/trace.csv"
    subprocess.run([allot, "trace", "convert", "--quiet", "--workload", trace, "--cluster", cluster, "--out", path], check=True,
                   stdout=subprocess.DEVNULL)
    with open(path, newline="") as file:
        jobs = list(csv.DictReader(file))
    first = float(jobs[0]["submit_s"])
    return [[job["job_id"], f"{float(job['submit_s']) - first:.0f}", job["gpus"], job["duration_s"], job["user"]]
            for job in jobs]


def windows(begin, end, count):
    edges = [round(begin + (end - begin) * i / count) for i in range(count + 1)]
    return list(zip(edges[:-1], edges[1:]))


def log_jct(allot, trace, options, window, index, lengths):
    """Of the mean JCT, the mean over the draws."""
    begin, end = window
    basis = "remaining" if lengths == "true" else f"gittins,history={trace}@{begin}"
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([allot, "compare", "--quiet", "--workload", trace, "--length-estimates", lengths, *options,
                        "--from", str(begin), "--to", str(end), "--span", str(end - begin), "--threads", "1",
                        "--policies", f"index:{index},basis={basis}", "--out", out], check=True,
                       stdout=subprocess.DEVNULL)
        evaluation = json.loads((Path(out) / "evaluation.json").read_text())
    return statistics.fmean(math.log(run["avg_jct_s"]) for run in evaluation["policies"][0]["runs"])


def tuned(allot, trace, options, tune, test, lengths="none", index=""):
    """By window of the test, with the alpha that is best in the windows of `tune`."""
    alpha = min(ALPHAS, key=lambda alpha: statistics.fmean(
        log_jct(allot, trace, options, window, f"alpha={alpha}{index}", lengths) for window in tune))
    return alpha, [log_jct(allot, trace, options, window, f"alpha={alpha}{index}", lengths) for window in test]


def ratio(ours, theirs):
    """Of logarithms: geometric mean of the paired ratios, and the ends of its interval."""
    logs = [a - b for a, b in zip(ours, theirs, strict=True)]
    mean = statistics.fmean(logs)
    half = T95[len(logs)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return [math.exp(x) for x in (mean, mean - half, mean + half)]


def measure(allot, rows, options, tune, test, index):
    """{which users: {"alpha", "ratio"}}"""
    with tempfile.TemporaryDirectory() as folder:
        without = write_csv(f"{folder}/without.csv", rows, users=[])
        alpha, plain = tuned(allot, without, options, tune, test)
        ways = {"users": (write_csv(f"{folder}/users.csv", rows), "none"),
                "exchanged": (write_csv(f"{folder}/exchanged.csv", rows, users=exchanged(rows, 1)), "none"),
                "lengths": (without, "true")}
        found = {"without": {"alpha": alpha, "mean_jct_s": [round(math.exp(x)) for x in plain]}}
        for name, (trace, lengths) in ways.items():
            alpha, ours = tuned(allot, trace, options, tune, test, lengths, index)
            found[name] = {"alpha": alpha, "ratio": [round(x, 4) for x in ratio(ours, plain)]}
        return found


def days(text):
    return float(text.removesuffix("d")) * DAY


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--cluster", default="20x8")
    parser.add_argument("--tune", type=days, default=5 * DAY)
    parser.add_argument("--test", type=days, default=8 * DAY)
    parser.add_argument("--end", type=days, default=20 * DAY)
    parser.add_argument("--windows", type=int, choices=T95, default=4)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--load", nargs="+", default=["1", "1.3"])
    parser.add_argument("--index", default="", help="further parameters of the policy, with users only")
    parser.add_argument("--out", type=Path)
    a = parser.parse_args()
    allot = a.build / "allot"
    with tempfile.TemporaryDirectory() as folder:
        rows = read_rows(allot, a.trace, a.cluster, folder)
    results = []
    for load in a.load:
        for jobs in ("rigid", "elastic"):
            options = ["--cluster", a.cluster, "--load", load, "--" + jobs, "--workloads", str(a.draws)]
            found = measure(allot, rows, options, windows(a.tune, a.test, 1), windows(a.test, a.end, a.windows),
                            a.index and "," + a.index)
            results.append({"load": load, "jobs": jobs, **found})
            print(f"load {load}, {jobs}: " + ", ".join(
                "{} {:.3f} [{:.3f}, {:.3f}] (alpha {})".format(name, *one["ratio"], one["alpha"])
                for name, one in found.items() if "ratio" in one), flush=True)
    if a.out:
        shown = {key: value for key, value in vars(a).items() if key not in ("build", "out")}
        a.out.write_text(json.dumps({"options": shown | {"trace": a.trace.name}, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
