#!/usr/bin/env python3
"""Derives gavel_speeds.csv: steps per second of Gavel's job types by GPU type and number of GPUs.

Usage: python3 traces/make_gavel_speeds.py [SHARED] > traces/gavel_speeds.csv
SHARED defaults to ../shared beside the repository (its folder reference/gavel).

The tables of consolidated placements, which its scheduler and simulator read. Job types in the order of its generator.
A rate of 0 (does not fit into memory) is left empty.
"""

import csv
import pathlib
import sys

TYPES = ("v100", "p100", "k80")


def main():
    here = pathlib.Path(__file__).resolve().parent
    shared = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[1] / "shared"
    rates = {}
    with open(shared / "reference/gavel/throughputs_simulation.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["consolidated"] == "1" and float(row["steps_per_s"]) > 0:
                at = (row["job_type"], int(row["scale_factor"]))
                rates.setdefault(at, {})[row["gpu_type"]] = f'{float(row["steps_per_s"]):.10g}'
    with open(shared / "reference/gavel/job_types.csv", newline="") as file:
        job_types = [row["job_type"] for row in csv.DictReader(file)]
    print("job_type,gpus," + ",".join(TYPES))
    for job_type in job_types:
        for gpus in (1, 2, 4, 8):
            found = rates.get((job_type, gpus))
            if found:
                print(f"{job_type},{gpus}," + ",".join(found.get(t, "") for t in TYPES))


if __name__ == "__main__":
    main()
