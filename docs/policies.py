#!/usr/bin/env python3
"""Writes docs/policies.md from what `allot list policies` says; with --check says whether it is up to date."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "policies.md"
HEAD = """# Policies

Every policy of `allot list policies`, made by `docs/policies.py`. Most are made of stages, which can be exchanged
(`las:sizing=hull`, [house.md](house.md)). *Length estimates*: it reads them, and with true lengths its results are marked as those of an
oracle. *Asked at every interval*: its answer changes with time alone; others are asked when something has happened.

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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build/release/allot"))
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    listed = subprocess.run([given.program, "list", "policies", "--json"], capture_output=True, text=True, check=True)
    page = HEAD + "".join(row(policy) for policy in json.loads(listed.stdout)["policies"])
    if not given.check:
        PAGE.write_text(page)
    elif page != PAGE.read_text():
        sys.exit(f"{PAGE} is not what docs/policies.py makes of the policies: run it again")


if __name__ == "__main__":
    main()
