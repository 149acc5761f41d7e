#!/usr/bin/env python3
"""Cuts philly-2017-4weeks.csv.gz out of the joined Philly table (see README.md).

Usage: python3 traces/make_excerpt.py [SOURCE.csv.gz] [TARGET.csv.gz]
SOURCE defaults to ../shared/traces/philly-joined/philly_joined.csv.gz beside the repository.
Equal input gives equal bytes with one version of zlib: no name and no time in the gzip header.
"""

import csv
import gzip
import io
import pathlib
import sys

FIRST, END = "2017-10-30 00:00:00", "2017-11-27 00:00:00"  # submitted in [FIRST, END)


def cut(source, target):
    text = io.StringIO()
    with gzip.open(source, "rt", newline="") as file:
        rows = csv.DictReader(file)
        out = csv.DictWriter(text, rows.fieldnames, lineterminator="\n")
        out.writeheader()
        for row in rows:
            if FIRST <= row["submit_time"] < END:
                row["vc"] = ""  # known for passed jobs only, so it would give the outcome away
                out.writerow(row)
    with open(target, "wb") as file:
        with gzip.GzipFile("", "wb", compresslevel=9, fileobj=file, mtime=0) as packed:
            packed.write(text.getvalue().encode())


def main():
    here = pathlib.Path(__file__).resolve().parent
    given = sys.argv[1:]
    source = given[0] if given else here.parents[1] / "shared/traces/philly-joined/philly_joined.csv.gz"
    target = given[1] if len(given) > 1 else here / "philly-2017-4weeks.csv.gz"
    cut(source, target)


if __name__ == "__main__":
    main()
