#!/usr/bin/env python3
"""How soon Slurm starts a program on a GPU that is free: as a batch job, as workers are, and as a step of an allocation.

    bench/slurm_start.py [--tries 12]

From the request to the program's first line, on a throw-away Slurm. ADR 100 has what follows from it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))
import cluster as slurm  # noqa: E402
from waiting import text_of, wait_until  # noqa: E402

ASKED = ("--partition=main", "--gres=gpu:v100:1")


def measure(cluster, start, stamp):
    """Seconds until `stamp`, which the program writes."""
    begin = time.time()
    start(f"date +%s.%N >{stamp}")
    wait_until(lambda: text_of(stamp).strip(), "the program to start")
    wait_until(lambda: not cluster.client("squeue", "--noheader"), "its end")
    return float(text_of(stamp)) - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=12)
    options = parser.parse_args()
    if slurm.missing():
        sys.exit(slurm.missing())
    with tempfile.TemporaryDirectory() as folder, slurm.Cluster(Path(folder) / "cluster") as cluster:
        def batch(program):
            cluster.client("sbatch", *ASKED, "--output=/dev/null", f"--wrap={program}")

        def step(program):
            subprocess.Popen(["salloc", "--quiet", *ASKED, "srun", "sh", "-c", program], env=cluster.environment)

        found = {}
        for name, start in (("batch", batch), ("step", step)):
            seconds = [measure(cluster, start, Path(folder) / f"{name}{turn}") for turn in range(options.tries)]
            found[name] = {"median": round(statistics.median(seconds), 3), "least": round(min(seconds), 3),
                           "most": round(max(seconds), 3)}
    print(json.dumps({**found, "load_average": round(os.getloadavg()[0], 1)}, indent=2))


if __name__ == "__main__":
    main()
