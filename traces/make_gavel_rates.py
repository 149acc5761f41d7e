#!/usr/bin/env python3
"""Derives gavel_rates.csv: steps per second on V100 GPUs, by which Gavel's traces turn run times into steps.

Usage: python3 traces/make_gavel_rates.py [SHARED] > traces/gavel_rates.csv
SHARED defaults to ../shared beside the repository (its folders reference/gavel and traces).

Columns gpus_1 .. gpus_8: the measured table of the simulator, which the traces with ten fields were made with; empty
where the source has no rate. Column philly: the one rate per job type behind the older traces with seven fields,
whatever the GPU count. No file states it; it is the ratio of a trace's steps to the run time of the same Philly job
in ElasticFlow's trace of the same virtual cluster, from the longest job of the type.
"""

import csv
import pathlib
import re
import sys

COUNTS = (1, 2, 4, 8)


def profile_of(job_type, known):
    """"ResNet-18 (batch size 16)" -> "resnet18:16", if the catalogue has it."""
    match = re.fullmatch(r"(.+) \(batch size (\d+)\)", job_type)
    name = f"{match[1].lower().replace('-', '')}:{match[2]}" if match else ""
    return name if name in known else ""


def main():
    here = pathlib.Path(__file__).resolve().parent
    shared = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[1] / "shared"
    with open(here / "catalogue.csv", newline="") as file:
        known = {row["profile"] for row in csv.DictReader(file)}
    rates = {}
    with open(shared / "reference/gavel/throughputs_simulation.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["gpu_type"] == "v100" and row["consolidated"] == "1" and float(row["steps_per_s"]) > 0:
                rates.setdefault(row["job_type"], {})[int(row["scale_factor"])] = float(row["steps_per_s"])
    with open(shared / "traces/philly-elasticflow/philly_103959.csv", newline="") as file:
        run_times = {(float(row["submit_time"]), int(row["num_gpu"])): float(row["real_duration"])
                     for row in csv.DictReader(file)}
    longest = {}
    for line in (shared / "traces/philly-gavel-vc/103959.trace").read_text().splitlines():
        job_type, _, _, _, steps, arrival, gpus = line.split("\t")
        run_time = run_times.get((float(arrival), int(gpus)), 0)
        if run_time > longest.get(job_type, (0, 0))[0]:
            longest[job_type] = (run_time, float(steps) / run_time)
    print("job_type,profile,philly," + ",".join(f"gpus_{n}" for n in COUNTS))
    for job_type, by_count in rates.items():
        cells = [f"{by_count[n]:.6g}" if n in by_count else "" for n in COUNTS]
        print(",".join([job_type, profile_of(job_type, known), f"{longest[job_type][1]:.5g}"] + cells))


if __name__ == "__main__":
    main()
