#!/usr/bin/env python3
"""What PAL's gain is made of: its rules on GPUs that are drawn in other ways.

    bench/pal_worlds.py [--build build/release] [--reference ../shared/reference/pal] [--speeds ../shared/prototype/topology]
                        [--seeds 7]

The first 60 jobs of its workload 6 in order of submission, by `allot reproduce pal` in worlds whose GPUs are drawn (with
replacement, class by class) from

  runs     single runs, each over the median run: what PAL draws
  medians  the median of all runs of each GPU, over the median GPU
  alike    all GPUs are the same

Mean JCT over that of Packed-S in the same world, with Student's 95 % interval over the seeds. --speeds holds quantiles of the
runs (gpu_rows.txt) and medians by GPU (gpu_speed.txt) of ResNet-50 (class A) and BERT (B and C); class D does not differ here.
"""

import argparse
import csv
import json
import math
import random
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

CLASSES = {"classA": "resnet", "classB": "bert", "classC": "bert", "classD": None}
RULES = {"Packed-S": "Default-Packed-S", "Packed-NS": "Default-Packed-NS", "PMFirst": "PMFirst", "PAL": "PAL"}
T95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}  # by number of seeds
RUN = "w6-las-packed-s"  # it lists most of the jobs that come after the 60


def read_speeds(folder):
    """Slowness of runs and of GPUs, by program."""

    def rows(name):
        return [[float(x) for x in line.split()] for line in (folder / name).read_text().splitlines() if not line.startswith("#")]

    runs, nodes = rows("gpu_rows.txt"), rows("gpu_speed.txt")
    per_node = len(nodes[0]) // 2
    return {
        "runs": {"resnet": [row[0] for row in runs], "bert": [row[1] for row in runs]},
        "medians": {"resnet": [x for row in nodes for x in row[:per_node]], "bert": [x for row in nodes for x in row[per_node:]]},
        "alike": {"resnet": [1.0], "bert": [1.0]},
    }


def drawn_world(speeds, seed, gpus):
    """Slowness of each GPU by class."""
    rng = random.Random(seed)
    return {name: [rng.choice(speeds[program]) if program else 1.0 for _ in range(gpus)] for name, program in CLASSES.items()}


def write_run(folder, source, facts, world):
    folder.mkdir(parents=True)
    shutil.copyfile(source / "jobs.csv", folder / "jobs.csv")
    (folder / "run.json").write_text(json.dumps(facts))
    with open(folder / "gpus.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["gpu", "node", *world])
        out.writerows([gpu, gpu // facts["gpus"], *slowness] for gpu, slowness in enumerate(zip(*world.values())))


def interval(ratios):
    mean = statistics.fmean(ratios)
    if len(ratios) < 2:
        return f"{mean:.3f}"
    return f"{mean:.3f} +- {T95[len(ratios)] * statistics.stdev(ratios) / math.sqrt(len(ratios)):.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--build", type=Path, default=root / "build" / "release")
    parser.add_argument("--reference", type=Path, default=root.parent / "shared" / "reference" / "pal")
    parser.add_argument("--speeds", type=Path, default=root.parent / "shared" / "prototype" / "topology")
    parser.add_argument("--seeds", type=int, default=7, choices=T95)
    arguments = parser.parse_args()
    source = arguments.reference / "runs" / RUN
    facts = json.loads((source / "run.json").read_text()) | {"scheduler": "Fifo"}
    slowest = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for kind, speeds in read_speeds(arguments.speeds).items():
            for seed in range(1 if kind == "alike" else arguments.seeds):
                world = drawn_world(speeds, seed, facts["machines"] * facts["gpus"])
                slowest.setdefault(kind, []).append(max(world["classA"]))
                for rule, placement in RULES.items():
                    write_run(folder / "runs" / f"{kind}.{seed}.{rule}", source, facts | {"placement": placement}, world)
        # The runs differ from the recorded ones, of course: exit code 1.
        done = subprocess.run([arguments.build / "allot", "reproduce", "pal", "--reference", folder, "--quiet", "--json"],
                              capture_output=True, text=True, check=False)
        if not done.stdout:
            raise SystemExit(done.stderr)
    jct = {run["run"]: run["avg_jct_s"] for run in json.loads(done.stdout)["runs"]}
    rules = [rule for rule in RULES if rule != "Packed-S"]
    print(f"| GPUs | slowest of class A, median over seeds | {' | '.join(rules)} |")
    print("|---" * (len(rules) + 2) + "|")
    for kind, values in slowest.items():
        ratios = [[jct[f"{kind}.{seed}.{rule}"] / jct[f"{kind}.{seed}.Packed-S"] for seed in range(len(values))] for rule in rules]
        print(f"| {kind} | {statistics.median(values):.2f} | {' | '.join(map(interval, ratios))} |")


if __name__ == "__main__":
    main()
