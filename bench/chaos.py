#!/usr/bin/env python3
"""Random faults on live clusters: how many jobs are lost, doubled, or hold GPUs for ever.

    bench/chaos.py [--runtime local|slurm|kubernetes] [--build build/release] [--schedules 200] [--seed 1] [--parallel 2]
                   [--out bench/results/chaos.json]

A schedule is a seed: some jobs, and some faults of all parts within seconds, while the jobs are resized for each other. Then
everything must end by itself. A schedule that fails keeps its folder. Which jobs and faults: chaos_local.py, chaos_slurm.py,
chaos_kubernetes.py, each with a World and a Schedule (chaos_schedule.py).
"""

import argparse
import concurrent.futures
import importlib
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "live"))
import chaos_schedule  # noqa: E402
from machine import machine  # noqa: E402

RUNTIMES = ("local", "slurm", "kubernetes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", choices=RUNTIMES, default="local")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--schedules", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first schedule")
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--out", type=Path)
    o = parser.parse_args()
    begin = time.monotonic()
    module = importlib.import_module(f"chaos_{o.runtime}")
    if module.missing():
        sys.exit(module.missing())
    world = module.World()
    player = chaos_schedule.Player(world, o.build.resolve())
    try:
        with concurrent.futures.ThreadPoolExecutor(o.parallel) as pool:
            runs = list(pool.map(player.play, range(o.seed, o.seed + o.schedules)))
    finally:
        player.stop()
    faults = sum((Counter(run["faults"]) for run in runs), Counter())
    count = {kind: sum(text.startswith(kind) for run in runs for text in run["found"])
             for kind in ("lost", "doubled", "leaked", "backward", "stuck")}
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    result = {"runtime": world.name, "schedules": o.schedules, "first_seed": o.seed,
              "jobs": sum(run["jobs"] for run in runs), "cancelled": sum(run["cancelled"] for run in runs),
              "faults": dict(sorted(faults.items())), **count, "parallel": o.parallel,
              "minutes": round((time.monotonic() - begin) / 60, 1), "machine": machine(), "commit": commit.stdout.strip(),
              "let_pass": [{"seed": run["seed"], "what": run["let_pass"]} for run in runs if run["let_pass"]],
              "failed": [run for run in runs if run["found"]]}
    text = json.dumps(result, indent=2) + "\n"
    if o.out:
        o.out.write_text(text)
    print(text, end="")
    sys.exit(1 if any(count.values()) else 0)


if __name__ == "__main__":
    main()
