#!/usr/bin/env python3
"""Draws the average JCT of each policy of an evaluation as SVG: docs/figures/demo.svg is that of ./dev demo.

Usage: docs/figures/jct_figure.py runs/demo/evaluate docs/figures/demo.svg [POLICY NAME]...
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


def draw(evaluation, names):
    reference, rows = rows_of(evaluation)
    scale = WIDTH / max(value for _, value, _ in rows)
    seen = {True: "weeks that training never saw", False: "weeks that training saw"}.get(evaluation.get("unseen"), "")
    title = f"Average job completion time on {len(evaluation['workloads'])} workloads {'of ' + seen if seen else ''}".strip()
    width, height = LEFT + WIDTH + RIGHT, TOP + len(rows) * (BAR + GAP) + 8
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="14">',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             f'<text x="12" y="24" font-size="16" fill="#222222">{escape(title)}</text>',
             f'<text x="12" y="42" font-size="12" fill="#666666">less is better; in brackets: {escape(reference)} / policy, '
             'geometric mean</text>']
    for number, (label, value, ratio) in enumerate(rows):
        y = TOP + number * (BAR + GAP)
        colour, weight = ("#1f6fb2", "bold") if label == reference else ("#b8c4ce", "normal")
        note = "" if label == reference else f" ({ratio:.2f})"
        parts += [f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end" font-weight="{weight}" fill="#222222">{escape(names.get(label, label))}</text>',
                  f'<rect x="{LEFT}" y="{y}" width="{value * scale:.1f}" height="{BAR}" fill="{colour}"/>',
                  f'<text x="{LEFT + value * scale + 6:.1f}" y="{y + 16}" fill="#222222">{hours(value)}{note}</text>']
    return "\n".join([*parts, "</svg>", ""])


def main():
    folder, out, *names = sys.argv[1:]
    evaluation = json.loads((Path(folder) / "evaluation.json").read_text())
    Path(out).write_text(draw(evaluation, dict(zip(names[::2], names[1::2]))))


if __name__ == "__main__":
    main()
