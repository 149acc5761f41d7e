#!/usr/bin/env python3
"""CPU time of the same benchmarks with two builds of allot, in pairs, so that a busy machine slows both.

    bench/paired.py --base OTHER/build/release/allot [--now build/release/allot] [--repeats 7]
                    [--out bench/results/paired.json]

Runs `allot bench simulate --million --figure6`, `allot bench decide` and `allot bench serve` with either build in turn.
Of each figure: the median with either build, and the median of the pairs' ratios. Below 1: the build --now is faster.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
from pathlib import Path

COMMANDS = {
    "simulate": ["bench", "simulate", "--million", "--figure6"],
    "decide": ["bench", "decide"],
    "serve": ["bench", "serve"],
}


def cpu_seconds():
    times = os.times()
    return times.children_user + times.children_system


def figures(part, answer):
    """{name: CPU time} of what a benchmark wrote."""
    if part == "simulate":
        found = {f"million, {row['policy']}": row["cpu_s"] for row in answer["million"]}
        for row in answer["active_jobs"]:
            found[f"{row['active_jobs']} active, {row['policy']}"] = row["cpu_us_per_decision"]
        return found | {"figure 6": answer["figure6"]["cpu_s"]}
    if part == "decide":
        return {f"{row['jobs']} jobs, {key}": row[f"{key}_us"]
                for row in answer["decisions"] for key in ("decision", "with_placement")}
    return {"direct, median": answer["direct"]["median_ms"]}


def run(build, part):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        before = cpu_seconds()
        subprocess.run([build, *COMMANDS[part], "--out", out], check=True, stdout=subprocess.DEVNULL)
        whole = cpu_seconds() - before
        answer = json.loads(out.read_text())
    # Figures of 'bench decide' are means over a fixed time: the whole says nothing there.
    whole = {} if part == "decide" else {"whole": whole}
    return answer["version"], answer["machine"]["cpu"], whole | figures(part, answer)


def compare(builds, part, repeats):
    values = [{}, {}]
    for repeat in range(repeats):
        for which in ((0, 1) if repeat % 2 == 0 else (1, 0)):
            for name, value in run(builds[which], part)[2].items():
                values[which].setdefault(name, []).append(value)
    rows = []
    for name, base in values[0].items():
        now = values[1][name]
        ratios = [b / a for a, b in zip(base, now)]
        rows.append({"figure": name, "base": round(statistics.median(base), 4),
                     "now": round(statistics.median(now), 4),
                     "ratio": round(statistics.median(ratios), 3),
                     "least_ratio": round(min(ratios), 3), "largest_ratio": round(max(ratios), 3)})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", required=True)
    parser.add_argument("--now", default="build/release/allot")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out")
    options = parser.parse_args()
    builds = (options.base, options.now)
    base, cpu, _ = run(options.base, "serve")
    result = {"base": base, "now": run(options.now, "serve")[0],
              "machine": {"cpu": cpu, "cores": os.cpu_count(), "system": platform.release()},
              "repeats": options.repeats}
    for part in COMMANDS:
        result[part] = compare(builds, part, options.repeats)
        for row in result[part]:
            print(f"{part:9} {row['figure']:28} {row['base']:10.4g} {row['now']:10.4g}  {row['ratio']:.3f}",
                  flush=True)
    result["machine"]["load_at_end"] = os.getloadavg()[0]
    if options.out:
        Path(options.out).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
