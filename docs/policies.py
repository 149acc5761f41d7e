#!/usr/bin/env python3
"""Writes docs/policies.md from what `allot list policies` says, and the pictures of docs/figures/orders; with --check says
whether all are up to date."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "policies.md"
PICTURES = ROOT / "docs" / "figures" / "orders"
SPECS = {"learned": "learned:checkpoint=checkpoints/universal/accepted,world=default"}  # other names say all
HEAD = """# Policies

Every policy of `allot list policies`, made by `docs/policies.py`. Most are made of stages, which can be exchanged
(`las:sizing=hull`, [house.md](house.md)). *Length estimates*: it reads them, and with true lengths its results are marked as those of an
oracle. *Asked at every interval*: its answer changes with time alone; others are asked when something has happened.

Where to begin: `easy` stands for what most clusters run today, `fifo` for less. If nobody knows how long jobs run, `las` and `gittins`;
with time limits or estimates `srtf` and, for jobs that may change their size, `index`, the strongest rule in most worlds that were
measured ([scoreboard.md](scoreboard.md)). `max-min`, `shared` and `assignment` are for clusters of several GPU types, `pollux` and `sia` for jobs that
choose their batch. `learned` is a trained network; `clairvoyant` and the oracles say how much room is left.

| policy | what it does | source | |
|---|---|---|---|
"""


def row(policy):
    marks = []
    if policy["needs_lengths"]:
        marks.append("length estimates")
    if policy["time_driven"]:
        marks.append("asked at every interval")
    summary = policy["summary"].replace("|", "\\|")
    return f"| `{policy['id']}` | {summary} | {policy['source']} | {', '.join(marks)} |\n"


ORDERS = """
## The order of each

Eight jobs on one node with 4 GPUs, as each policy serves them with its defaults: `a` asks for 2 GPUs and 90 minutes, `b` for 4 and 30,
`c` for 1 and 20, `d` for 2 and 60, `e` for 1 and 10, `f` for 1 and 40, `g` for 4 and 15; `h`, the last, ends the pictures
([workload.csv](figures/orders/workload.csv), submitted in this order; true lengths, jobs may run on 1 to 4 GPUs, a change costs 30 s).
A bar is a job on its GPUs, darker where it has more; a thin line waits.
`allot compare --out RUNS` and `allot plot --figure gantt RUNS --out FIGURES` draw the same of your jobs.
"""
COMPARE = ["--workload", "docs/figures/orders/workload.csv", "--cluster", "1x4", "--profile", "event", "--interval", "60",
           "--restart-cost", "30", "--length-estimates", "true", "--quiet", "--json"]


def drawn(program, policy, folder):
    """The picture of a policy and its mean completion time in seconds."""
    spec = SPECS.get(policy, policy)
    run = subprocess.run([program, "compare", *COMPARE, "--policies", spec, "--reference", spec, "--out", folder / policy],
                         capture_output=True, text=True, check=True, cwd=ROOT)
    plotted = subprocess.run([program, "plot", folder / policy, "--figure", "gantt", "-o", folder / policy / "svg"],
                             capture_output=True, text=True, check=True)
    picture = next(path for path in plotted.stdout.split() if path.endswith(".svg"))
    paper = '</style>\n<rect width="100%" height="100%" fill="#ffffff"/>'  # pages may be dark
    return Path(picture).read_text().replace("</style>", paper, 1), json.loads(run.stdout)["policies"][0]["runs"][0]["avg_jct_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build/release/allot"))
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    listed = subprocess.run([given.program, "list", "policies", "--json"], capture_output=True, text=True, check=True)
    policies = json.loads(listed.stdout)["policies"]
    files = {PAGE: HEAD + "".join(row(policy) for policy in policies) + ORDERS}
    with tempfile.TemporaryDirectory() as folder:
        for policy in policies:
            picture = PICTURES / f"{policy['id']}.svg"
            files[picture], jct = drawn(given.program, policy["id"], Path(folder))
            files[PAGE] += (f"\n### {policy['id']}\n\nMean completion time {jct / 60:.0f} min.\n\n"
                            f"![Jobs over time under {policy['id']}](figures/orders/{picture.name})\n")
    if not given.check:
        for path, text in files.items():
            path.write_text(text)
        return
    stale = [str(path.relative_to(ROOT)) for path, text in files.items() if not path.exists() or path.read_text() != text]
    stale += [str(path.relative_to(ROOT)) for path in PICTURES.glob("*.svg") if path not in files]
    if stale:
        sys.exit(f"not what docs/policies.py makes of the policies, run it again: {', '.join(stale)}")


if __name__ == "__main__":
    main()
