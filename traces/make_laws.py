#!/usr/bin/env python3
"""Derives laws/philly.json and laws/helios-venus.json, by which allot makes synthetic workloads.

Usage: python3 traces/make_laws.py [TRACES]
TRACES defaults to ../shared/traces beside the repository. Rates by hour and day, GPU demand and the mixtures of run
times are those of its calibration/ folder; what that does not hold is counted here, from the traces themselves: how
many jobs come in one batch (gaps of at most a minute) and how alike they are. "measured" is what the data shows, for
comparison with what a law makes; nothing is generated from it. Standard library only; equal input gives equal bytes.
"""

import collections
import csv
import datetime
import gzip
import json
import pathlib
import statistics
import sys

JOIN_GAP = 60  # s: jobs closer than this are one batch
SIZE_POINTS = (.90, .95, .98, .99, .995, .998, .999, .9999)


def rows(path):
    with gzip.open(path, "rt", newline="") as file:
        yield from csv.DictReader(file)


def philly(folder):
    """(s from Monday 2017-10-02, GPUs, run time) of jobs from then to 2017-12-17."""
    first, end = datetime.datetime(2017, 10, 2), datetime.datetime(2017, 12, 18)
    for row in rows(folder / "philly-joined/philly_joined.csv.gz"):
        submit, run_time = datetime.datetime.fromisoformat(row["submit_time"]), float(row["duration_s"])
        if first <= submit < end and run_time > 0:
            yield (submit - first).total_seconds(), int(row["num_gpus"]), run_time


def venus(folder):
    """The same from Wednesday 2020-04-01; the trace's zero is 2020-03-18 04:01:39."""
    first = (datetime.datetime(2020, 4, 1) - datetime.datetime(2020, 3, 18, 4, 1, 39)).total_seconds()
    for row in rows(folder / "helios/helios_trace.until-2020-08-31.csv.gz"):
        submit = float(row["arrival_s"]) - first
        if submit >= 0:
            yield submit, int(row["gpu_count"]), float(row["service_sec"])


def quantile(ordered, share):
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def split(jobs):
    batches = [[jobs[0]]]
    for before, job in zip(jobs, jobs[1:]):
        if job[0] - before[0] <= JOIN_GAP:
            batches[-1].append(job)
        else:
            batches.append([job])
    return batches


def sizes_of(batches):
    """[share of batches up to here, size]: an inverse distribution function by points."""
    sizes = sorted(len(batch) for batch in batches)
    small = [[sum(s <= n for s in sizes) / len(sizes), n] for n in (1, 2, 3)]
    large = [[share, quantile(sizes, share)] for share in SIZE_POINTS if share > small[-1][0]]
    return [[round(share, 5), size] for share, size in small + large + [[1, sizes[-1]]]]


def alike(jobs, batches, class_of):
    """How alike neighbours in a batch are: share of batches' jobs with the batch's GPUs, correlation of run times.

    GPUs: with s the share of jobs that take the batch's demand and c the chance that two demands agree anyway, two
    neighbours agree with s^2 + (1 - s^2) c. Run times: correlation of normal scores within classes of GPUs.
    """
    score = {}
    by_class = collections.defaultdict(list)
    for place, job in enumerate(jobs):
        by_class[class_of(job[1])].append((job[2], place))
    for members in by_class.values():
        for rank, (_, place) in enumerate(sorted(members)):
            score[place] = statistics.NormalDist().inv_cdf((rank + .5) / len(members))
    pairs, place = [], 0
    for batch in batches:
        pairs += [(k, k + 1) for k in range(place, place + len(batch) - 1)]
        place += len(batch)
    chance = sum((n / len(jobs)) ** 2 for n in collections.Counter(job[1] for job in jobs).values())
    same = sum(jobs[a][1] == jobs[b][1] for a, b in pairs) / len(pairs)
    return {"mean_gap_s": round(statistics.mean(jobs[b][0] - jobs[a][0] for a, b in pairs), 2),
            "same_gpus": round(((same - chance) / (1 - chance)) ** .5, 3),
            "run_time_correlation": round(sum(score[a] * score[b] for a, b in pairs) / len(pairs), 3)}


def measured(jobs):
    hours = collections.Counter(int(job[0] // 3600) for job in jobs)
    counts = sorted(hours[h] for h in range(int(jobs[-1][0] // 3600) + 1))
    run_times = sorted(job[2] for job in jobs)
    gaps = sorted(b[0] - a[0] for a, b in zip(jobs, jobs[1:]))
    pick = lambda ordered, shares: {f"p{round(100 * s)}": quantile(ordered, s) for s in shares}
    return {"jobs": len(jobs),
            "run_time_s": pick(run_times, (.25, .5, .75, .95)),
            "gap_s": pick(gaps, (.5, .75, .95)),
            "jobs_an_hour": pick(counts, (.5, .95, .99)),
            "gpu_hours_a_job": round(sum(job[1] * job[2] for job in jobs) / len(jobs) / 3600, 2)}


def law(calibration, fits, jobs, class_of, limit, note):
    jobs = sorted(jobs)
    batches = split(jobs)
    return {"note": note,
            "jobs_per_hour": calibration["arrivals_per_hour_mean"],
            "hour_of_day": calibration["hour_of_day_multiplier"],
            "day_of_week": calibration["day_of_week_multiplier_mon0"],
            "batches": {"sizes": sizes_of(batches), **alike(jobs, batches, class_of)},
            "gpus": [[int(gpus), share] for gpus, share in calibration["gpu_demand_prob"].items()],
            "run_times": fits, "longest_s": limit,
            "measured": measured(jobs)}


def fits_of(calibration_fits, components, up_to):
    """Per class of GPUs (up to a count): [weight, mean, deviation] of ln s, and the share at the limit."""
    return [{"up_to_gpus": up_to[name], "lognormal": fit[components], "at_longest": fit.get("clipped_share", 0)}
            for name, fit in calibration_fits.items()]


def dump(path, table):
    lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in table.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    here = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[1] / "shared/traces"
    calibration = json.loads((folder / "calibration/philly_calibration.json").read_text())
    up_to = {"1": 1, "2": 2, "4": 4, "8": 8, "16+": 1000000}
    all_fits = calibration["duration_lognormal_mixture"]["fits"]
    fits = fits_of({name: all_fits[f"{name}/all"] for name in up_to}, "components", up_to)
    table = law(calibration, fits, philly(folder), lambda gpus: min(c for c in up_to.values() if gpus <= c), 5.2e6,
                "Microsoft Philly, jobs of 2017-10-02 to 2017-12-17; from msr-fiddle/philly-traces, CC BY 4.0, cite "
                "Jeon et al., ATC'19")
    jobs = {name: vc["passed_jobs"] for name, vc in calibration["vc"].items()}
    table["tenants"] = [[name, round(n / sum(jobs.values()), 5)] for name, n in jobs.items()]
    dump(here / "laws/philly.json", table)

    calibration = json.loads((folder / "calibration/helios_venus_calibration.json").read_text())
    up_to = {"1": 1, "2-4": 4, "8": 8, "16+": 1000000}
    table = law(calibration, fits_of(calibration["fits"], "components_of_unclipped", up_to), venus(folder),
                lambda gpus: min(c for c in up_to.values() if gpus <= c), 172800,
                "SenseTime Helios, cluster Venus, jobs of 2020-04-01 to 2020-08-31, run times cut at 48 h; from "
                "S-Lab-System-Group/HeliosData, CC BY 4.0, cite Hu et al., SC'21")
    dump(here / "laws/helios-venus.json", table)


if __name__ == "__main__":
    main()
