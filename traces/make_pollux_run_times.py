#!/usr/bin/env python3
"""Derives pollux_run_times.csv: how long the jobs of Pollux's and Sia's workloads run as requested.

Usage: python3 traces/make_pollux_run_times.py [REFERENCE] > traces/pollux_run_times.csv
REFERENCE defaults to ../shared/reference beside the repository (tables of the peers' artifacts as CSV).

Those workloads hold no run times: a job names an application, a GPU count and a total batch size, and its work comes
from the application's measured curves. Here each such triple is run alone, on packed nodes of four GPUs, with its
batch size kept and without restarts: per epoch (progress in it) / gain x iteration time.
"""

import csv
import json
import math
import pathlib
import sys


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def between(low, high, at):
    """Linear interpolation between two (x, values) points."""
    share = 0 if high[0] == low[0] else (at - low[0]) / (high[0] - low[0])
    return [a + share * (b - a) for a, b in zip(low[1], high[1])]


def neighbours(points, at):
    below = [p for p in points if p[0] <= at]
    above = [p for p in points if p[0] >= at]
    return (max(below), min(above)) if below and above else None


class Application:
    def __init__(self, folder, parameters):
        self.parameters = parameters
        self.placements = {}
        for row in rows(folder / "placements.csv"):
            times = (float(row["local_bsz"]), [float(row["step_time"]), float(row["sync_time"])])
            self.placements.setdefault(row["placement"], []).append(times)
        overlaps = folder / "interp_overlaps.csv"
        self.overlaps = {
            (int(r["num_nodes"]), int(r["num_replicas"]), int(r["local_bsz"])):
                [float(r["step_time"]), float(r["sync_time"])]
            for r in (rows(overlaps) if overlaps.exists() else [])}
        self.triangulation = json.loads((folder / "interp.json").read_text())
        self.curves = {}
        for row in rows(folder / "validation.csv"):
            values = [float(row[name]) for name in ("progress", "grad_sqr", "grad_var")]
            self.curves.setdefault(int(row["batch_size"]), []).append(values)

    def step(self, gpus, local):
        """(step time, sync time) on packed nodes of four GPUs; None where nothing was measured."""
        nodes = [4] * (gpus // 4) + ([gpus % 4] if gpus % 4 else [])
        name = min("".join(map(str, nodes[i:] + nodes[:i])) for i in range(len(nodes)))
        if name in self.placements:
            pair = neighbours(self.placements[name], local)
            return between(*pair, local) if pair else None
        point = (min(len(nodes), 16), gpus, local)
        if point in self.overlaps:
            return self.overlaps[point]
        points, values = self.triangulation["points"], self.triangulation["values"]
        for simplex in self.triangulation["simplices"]:
            weights = barycentric([points[i] for i in simplex], point)
            if weights and min(weights) >= -1e-9:
                return [sum(w * values[i][k] for w, i in zip(weights, simplex)) for k in (0, 1)]
        return None

    def run_time(self, gpus, batch):
        most_local, most = int(self.parameters["max_local_bsz"]), int(self.parameters["max_batch_size"])
        first = int(self.parameters["init_batch_size"])
        local = math.ceil(batch / gpus - 1e-8)
        passes = math.ceil(local / most_local - 1e-8)
        if gpus == 1 and batch > first:
            passes = max(passes, 2)  # the gradient noise of one GPU needs two micro-batches
        local = min(math.ceil(local / passes - 1e-8), most // (gpus * passes))
        step = self.step(gpus, local)
        if step is None:
            return None
        iteration = step[0] + (passes - 1) * (step[0] - step[1])
        total, scale = gpus * local * passes, gpus * local * passes / first
        pair = neighbours([(size, []) for size in self.curves], total)
        if pair is None:
            return None
        seconds = done = 0
        for epoch in range(int(self.parameters["max_epochs"])):
            _, square, variance = between(*[(size, self.curves[size][epoch]) for size, _ in pair], total)
            gain = (variance + square) / (variance / scale + square)
            end = min(curve[epoch][0] for curve in self.curves.values())
            seconds += (end - done) / gain * iteration
            done = end
        return seconds


def barycentric(corners, point):
    """Weights of the corners of a tetrahedron, by Cramer's rule; None for a flat one."""
    def determinant(a, b, c):
        return (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                + a[2] * (b[0] * c[1] - b[1] * c[0]))
    edges = [[c - o for c, o in zip(corner, corners[0])] for corner in corners[1:]]
    to = [p - o for p, o in zip(point, corners[0])]
    volume = determinant(*edges)
    if abs(volume) < 1e-9:
        return None
    weights = [determinant(*(edges[:i] + [to] + edges[i + 1:])) / volume for i in range(3)]
    return [1 - sum(weights)] + weights


def main():
    root = pathlib.Path(__file__).resolve().parents[2] / "shared" / "reference"
    reference = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root
    applications = {
        row["application"]: Application(reference / "pollux" / "applications" / row["application"], row)
        for row in rows(reference / "pollux" / "applications" / "parameters.csv")}
    triples = {
        (row["application"], int(row["num_replicas"]), int(row["batch_size"]))
        for folder in (reference / "pollux" / "workloads", reference / "sia" / "workloads",
                       reference.parent / "traces" / "pollux-workloads")
        for path in sorted(folder.glob("*.csv")) for row in rows(path)}
    print("application,gpus,batch_size,run_time_s")
    for application, gpus, batch in sorted(triples):
        seconds = applications[application].run_time(gpus, batch)
        if seconds is None:
            print(f"no curve for {application} on {gpus} GPUs with batch {batch}", file=sys.stderr)
        else:
            print(f"{application},{gpus},{batch},{seconds:.0f}")


if __name__ == "__main__":
    main()
