#!/usr/bin/env python3
"""Makes pollux_applications.txt.gz of a folder of applications (docs/goodput.md), thinned.

    make_pollux_applications.py FOLDER/applications pollux_applications.txt.gz

The measurements are those of petuum/adaptdl, branch osdi21-artifact, commit c793c7089bd3, simulator/traces (Apache-2.0).
What is left out: columns that allot does not read, values of the triangulation (means of the rows), and answers for overlapping simplices where the first simplex that
holds the point gives the same.
"""
import csv
import gzip
import io
import json
import pathlib
import sys

SAME = 1e-12


def determinant(m):
    return (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]))


class Triangulation:
    def __init__(self, tables):
        self.points = tables["points"]
        self.values = tables["values"]
        self.simplices = []
        for corners in tables["simplices"]:
            p = [self.points[c] for c in corners]
            edges = [[p[i][k] - p[3][k] for i in range(3)] for k in range(3)]
            volume = determinant(edges)
            if abs(volume) < 1e-9:
                continue
            box = [(min(q[k] for q in p), max(q[k] for q in p)) for k in range(3)]
            self.simplices.append((corners, p, edges, volume, box))

    def first(self, x):
        for corners, p, edges, volume, box in self.simplices:
            if any(x[k] < box[k][0] or x[k] > box[k][1] for k in range(3)):
                continue
            rest = [x[k] - p[3][k] for k in range(3)]
            weights = [determinant([[rest[k] if j == i else edges[k][j] for j in range(3)] for k in range(3)]) / volume
                       for i in range(3)]
            weights.append(1 - sum(weights))
            if min(weights) >= -1e-9:
                return [sum(w * self.values[c][v] for w, c in zip(weights, corners)) for v in (0, 1)]
        return None


def thinned_overlaps(text, triangulation):
    rows = list(csv.DictReader(io.StringIO(text)))
    kept = []
    for row in rows:
        first = triangulation.first([int(row[c]) for c in ("num_nodes", "num_replicas", "local_bsz")])
        times = [float(row["step_time"]), float(row["sync_time"])]
        if first is None or max(abs(a - b) for a, b in zip(first, times)) > SAME:
            kept.append(row)
    return table(kept, ["num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time"])


def table(rows, columns):
    return "".join(",".join(line) + "\n" for line in [columns] + [[row[c] for c in columns] for row in rows])


def without(text, column):
    rows = list(csv.DictReader(io.StringIO(text)))
    return table(rows, [c for c in rows[0] if c != column])


# ncf cannot choose: Pollux's simulator always gives it one GPU and this batch.
FIXED = "@file fixed_batches.csv\napplication,batch_size,max_gpus\nncf,32768,1\n"


def main(folder, result):
    folder = pathlib.Path(folder)
    pack = "@allot-applications\n@file parameters.csv\n" + without(
        (folder / "parameters.csv").read_text(), "validated_batch_sizes") + FIXED
    for file in sorted(folder.glob("*/*")):
        text = file.read_text()
        if file.name.startswith("interp_overlaps"):
            shape = file.name.replace("interp_overlaps", "interp").replace(".csv", ".json")
            text = thinned_overlaps(text, Triangulation(json.loads((file.parent / shape).read_text())))
        elif file.name == "validation.csv":
            text = without(text, "metric")
        elif file.suffix == ".json":
            tables = json.loads(text)
            del tables["values"]  # means of the rows
            text = json.dumps(tables, separators=(",", ":"))
        pack += f"@file {file.parent.name}/{file.name}\n{text.rstrip()}\n"
    with open(result, "wb") as out:
        out.write(gzip.compress(pack.encode(), 9, mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
