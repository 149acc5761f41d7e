#!/usr/bin/env python3
"""Derives catalogue.csv from the reference data (see catalogue.md).

Usage: python3 traces/make_catalogue.py [REFERENCE] > traces/catalogue.csv
REFERENCE holds gavel/ and dl2/; default ../shared/reference beside the repository.
"""

import csv
import pathlib
import sys

GPU_TYPES = ["v100", "p100", "k80"]  # reference type first
DL2_WORKERS = [1, 2, 3, 4, 6, 8, 12]


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def at_most_linear(points):
    """The source has several GPUs faster than linear (other batches were measured): cut to linear."""
    return {gpus: min(rate, gpus * points.get(1, rate)) for gpus, rate in points.items()}


def gavel(folder):
    """{profile: {gpu_type: {gpus: steps/s}}} of the job types that may use several GPUs."""
    rates = {}
    for row in read(folder / "throughputs_simulation.csv"):
        if row["consolidated"] == "1" and float(row["steps_per_s"]) > 0:
            points = rates.setdefault((row["job_type"], row["gpu_type"]), {})
            points[int(row["scale_factor"])] = float(row["steps_per_s"])
    profiles = {}
    for job in read(folder / "job_types.csv"):
        if job["multi_gpu_allowed"] == "1":
            name = job["model"].replace("-", "").lower() + ":" + job["batch_size"]
            profiles[name] = {t: at_most_linear(rates.get((job["job_type"], t), {})) for t in GPU_TYPES}
    return profiles


def dl2(folder):
    """One worker is one GPU, with one parameter server each (DL2's bundle)."""
    bundles = {}
    for row in read(folder / "interpolated.csv"):
        if row["num_ps"] == row["num_workers"]:
            bundles[row["type"], int(row["num_workers"])] = float(row["speed"])
    profiles = {}
    for job in read(folder / "types.csv"):
        if int(job["worker_gpu"]) > 0:
            points, speed = {}, 0
            for workers in DL2_WORKERS:
                speed = max(speed, bundles[job["type"], workers])  # further workers may stay idle
                points[workers] = speed
            profiles["dl2-" + job["model"].replace("-", "")] = {"gpu": at_most_linear(points)}
    return profiles


def main():
    here = pathlib.Path(__file__).resolve().parent
    reference = here.parent.parent / "shared" / "reference"
    if len(sys.argv) > 1:
        reference = pathlib.Path(sys.argv[1])
    profiles = gavel(reference / "gavel") | dl2(reference / "dl2" / "speed")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["profile", "gpu_type", "gpus", "rate"])
    for profile, types in profiles.items():
        for gpu_type, points in types.items():
            for gpus, rate in sorted(points.items()):
                out.writerow([profile, gpu_type, gpus, f"{rate:.6g}"])


if __name__ == "__main__":
    main()
