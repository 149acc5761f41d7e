#!/usr/bin/env python3
"""How long a job of torchrun takes to train at another size, on a real Slurm, with each PyTorch that is here.

    bench/live_torchrun.py [--build build/release] [--tries 15] [--out FILE]

From the order to stop until its processes have met at the new size and read the checkpoint: with torchrun as it is, and with
processes that are forked from it (allot_elastic.torchrun). `allot bench live --measure torchrun` runs this.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import live
from live import slurm
from probe import Probe
from pythons import has_torch


def measure(folder, build, tries):
    tools = {"probe": build / "tests" / "runtime_probe", "launcher": build / "allot-elastic"}
    with slurm.Cluster(folder / "cluster") as cluster:
        probe = Probe(cluster, tools, folder / "state")
        found = {name: live.measure_torchrun(cluster, probe, folder / name, python, tries)
                 for name, python in live.PYTHONS.items() if has_torch(python)}
        probe.kill()
    return {"pytorch": found, "cores": os.cpu_count(), "load_average": round(os.getloadavg()[0], 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=live.ROOT / "build" / "release")
    parser.add_argument("--tries", type=int, default=15)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if slurm.missing():
        sys.exit(slurm.missing())
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        text = json.dumps(measure(Path(folder), options.build.resolve(), options.tries), indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
