#!/usr/bin/env python3
"""Draws the pictures of the README as SVG: bars of the average JCT of an evaluation, or of the mean wait of a what-if.

Usage: docs/figures/jct_figure.py runs/demo/evaluate docs/figures/demo.svg [POLICY NAME]...
       docs/figures/jct_figure.py whatif.json docs/figures/whatif.svg      (whatif.json: what allot whatif --json prints)
Each POLICY is shown under the NAME after it.
"""

import json
import sys
from html import escape
from math import exp, log
from pathlib import Path

LEFT, BAR, GAP, TOP, WIDTH, RIGHT = 150, 22, 10, 52, 430, 180


def mean(values):
    return sum(values) / len(values)


def rows_of(evaluation):
    """(label, mean JCT in hours, ratio of the reference to it), fastest first."""
    runs = {policy["label"]: [run["avg_jct_s"] for run in policy["runs"]] for policy in evaluation["policies"]}
    reference = next(p["label"] for p in evaluation["policies"] if p["id"] == evaluation["reference"])
    rows = [(label, mean(jct) / 3600, exp(mean([log(a / b) for a, b in zip(runs[reference], jct)])))
            for label, jct in runs.items()]
    return reference, sorted(rows, key=lambda row: row[1])


def hours(value):
    minutes = round(value * 60)
    return f"{minutes // 60} h {minutes % 60:02} min"


def evaluation_figure(evaluation, names):
    reference, rows = rows_of(evaluation)
    seen = {True: "weeks that training never saw", False: "weeks that training saw"}.get(evaluation.get("unseen"), "")
    title = f"Average job completion time on {len(evaluation['workloads'])} workloads {'of ' + seen if seen else ''}".strip()
    below = f"less is better; in brackets: {reference} / policy, geometric mean"
    return draw(title, below, [(names.get(label, label), value, "" if label == reference else f" ({ratio:.2f})", label == reference)
                               for label, value, ratio in rows])


def whatif_figure(found):
    title = f"Mean wait of {found['jobs']} jobs on {found['gpus']} GPUs, {found['workload']}"
    return draw(title, "less is better; recorded: the trace itself; the others are simulated",
                [(scene["title"], scene["avg_wait_s"] / 3600, "", scene["kind"] == "present") for scene in found["scenes"]])


def draw(title, below, rows):
    """rows: (label, hours, note, whether it is the reference)."""
    scale = WIDTH / max(row[1] for row in rows)
    width, height = LEFT + WIDTH + RIGHT, TOP + len(rows) * (BAR + GAP) + 8
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="14">',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             f'<text x="12" y="24" font-size="16" fill="#222222">{escape(title)}</text>',
             f'<text x="12" y="42" font-size="12" fill="#666666">{escape(below)}</text>']
    for number, (label, value, note, reference) in enumerate(rows):
        y = TOP + number * (BAR + GAP)
        colour, weight = ("#1f6fb2", "bold") if reference else ("#b8c4ce", "normal")
        parts += [f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end" font-weight="{weight}" fill="#222222">{escape(label)}</text>',
                  f'<rect x="{LEFT}" y="{y}" width="{value * scale:.1f}" height="{BAR}" fill="{colour}"/>',
                  f'<text x="{LEFT + value * scale + 6:.1f}" y="{y + 16}" fill="#222222">{hours(value)}{note}</text>']
    return "\n".join([*parts, "</svg>", ""])


def main():
    source, out, *names = sys.argv[1:]
    folder = Path(source).is_dir()
    found = json.loads((Path(source) / "evaluation.json" if folder else Path(source)).read_text())
    Path(out).write_text(evaluation_figure(found, dict(zip(names[::2], names[1::2]))) if folder else whatif_figure(found))


if __name__ == "__main__":
    main()
