#!/usr/bin/env python3
"""Does the hour of submission tell of a job's length, beyond its size class and the service it has attained?

    bench/hours.py philly_trace.csv.gz        (msr-fiddle/philly-traces as shuoshuc/RFold has it)

Weeks from 2017-10-02 to 2017-11-13, what was tuned and trained on. Each is foretold by the five others: distributions
in bins of a quarter of an octave as the length model's, by size class alone and by hour too, drawn towards the former
by 64 pseudo-jobs; both are smoothed alike. Gain in nats a job of those that last longer than was attained, and its
standard error over weeks.
"""

import argparse
import csv
import gzip
import math
import statistics
from collections import defaultdict
from datetime import datetime

BINS = 160
FIRST, FROM, TO = datetime(2017, 8, 14, 23, 27), datetime(2017, 10, 2), datetime(2017, 11, 13)
ATTAINED = (0, 600, 3600, 21600)
SPLITS = {"24 hours": lambda hour: hour, "6 blocks of 4 h": lambda hour: hour // 4,
          "8 to 20 h or not": lambda hour: 8 <= hour < 20}
KERNEL = [math.exp(-0.5 * (i / 2.5) ** 2) for i in range(-7, 8)]


def bin_of(seconds):
    return 0 if seconds < 1 else min(BINS - 1, 1 + int(4 * math.log2(seconds)))


def smoothed(counts):
    spread = [0.0] * BINS
    for at, count in enumerate(counts):
        for i, weight in enumerate(KERNEL):
            spread[min(max(at + i - 7, 0), BINS - 1)] += count * weight / sum(KERNEL)
    return spread


def read(path):
    """(week, hour, size class, bin) of each job; a run that goes on at the end counts as if it ended there."""
    begin, end = (FROM - FIRST).total_seconds(), (TO - FIRST).total_seconds()
    midnight = FIRST.hour * 3600 + FIRST.minute * 60
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            submit, seconds, gpus = (float(row[key]) for key in ("arrival time (sec)", "duration (sec)", "size"))
            if begin <= submit < end and seconds > 0:
                size = 0 if gpus <= 1 else 1 if gpus <= 4 else 2 if gpus <= 8 else 3
                yield (int((submit - begin) // (7 * 86400)), int((submit + midnight) % 86400 // 3600), size,
                       bin_of(min(seconds, end - submit)))


def shares(counts, above=None, pseudo_jobs=0.0):
    spread = smoothed(counts)
    total = sum(spread) + pseudo_jobs
    return [(n + (pseudo_jobs * above[i] if above else 0)) / total for i, n in enumerate(spread)]


def gains(jobs, split, week):
    """By what was attained: mean gain in log-likelihood of that week's jobs, foretold by the others."""
    of_class, of_hour = defaultdict(lambda: [0] * BINS), defaultdict(lambda: [0] * BINS)
    everything = [1e-3] * BINS
    for when, hour, size, at in jobs:
        if when != week:
            of_class[size][at] += 1
            of_hour[size, split(hour)][at] += 1
            everything[at] += 1
    base = shares(everything)
    plain = {size: shares(counts, base, 4) for size, counts in of_class.items()}
    hourly = {key: shares(counts, plain[key[0]], 64) for key, counts in of_hour.items()}
    found = []
    for attained in ATTAINED:
        first = bin_of(attained)
        gain = []
        for when, hour, size, at in jobs:
            if when == week and at >= first:
                p, q = plain[size], hourly.get((size, split(hour)), plain[size])
                gain.append(math.log(q[at] / tail(q, first)) - math.log(p[at] / tail(p, first)))
        found.append(statistics.fmean(gain))
    return found


def tail(distribution, first, known={}):  # noqa: B006, sums of distributions that live to the end
    key = (id(distribution), first)
    if key not in known:
        known[key] = (sum(distribution[first:]), distribution)
    return known[key][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    jobs = list(read(parser.parse_args().trace))
    weeks = sorted({job[0] for job in jobs})
    print(f"{len(jobs)} jobs in {len(weeks)} weeks; attained {', '.join(f'{a} s' for a in ATTAINED)}")
    for name, split in SPLITS.items():
        by_week = [gains(jobs, split, week) for week in weeks]
        cells = [f"{statistics.fmean(gain):+.3f} +- {statistics.stdev(gain) / len(gain) ** 0.5:.3f}"
                 for gain in zip(*by_week, strict=True)]
        print(f"{name:18} {'   '.join(cells)}")


if __name__ == "__main__":
    main()
