#!/usr/bin/env python3
"""Derives gavel_pairs.csv: steps per second of two of Gavel's job types on the same GPUs.

Usage: python3 traces/make_gavel_pairs.py [SHARED] > traces/gavel_pairs.csv
SHARED defaults to ../shared beside the repository (its folder reference/gavel).

One row for two job types and a number of GPUs; by GPU type the rates of the first and of the second, six digits. Both
are empty where one of them does not run.
"""

import csv
import pathlib
import sys

TYPES = ("v100", "p100", "k80")


def main():
    here = pathlib.Path(__file__).resolve().parent
    shared = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[1] / "shared"
    pairs = {}
    with open(shared / "reference/gavel/colocated_throughputs_simulation.csv", newline="") as file:
        for row in csv.DictReader(file):
            rates = [float(row["steps_per_s_a"]), float(row["steps_per_s_b"])]
            if min(rates) > 0:
                at = (int(row["scale_factor"]), row["job_type_a"], row["job_type_b"])
                pairs.setdefault(at, {})[row["gpu_type"]] = [f"{rate:.6g}" for rate in rates]
    print("gpus,job_type_a,job_type_b," + ",".join(f"{t}_a,{t}_b" for t in TYPES))
    for at, rates in sorted(pairs.items()):
        print(",".join(map(str, at)) + "," + ",".join(",".join(rates.get(t, ["", ""])) for t in TYPES))


if __name__ == "__main__":
    main()
