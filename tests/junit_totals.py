"""Adds up JUnit files and prints "N passed, N failed[, N skipped]"; exit 1 unless all that ran passed.

Usage: junit_totals.py FOLDER [PREFIX]...

FOLDER holds NAME.status, the exit status of a program, and NAME.xml, which that program wrote. A program without NAME.xml
counts as one failed test. With PREFIX, only names that begin so count.
"""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


def verdict(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") == "notrun":  # GoogleTest: disabled
        return "skipped"
    return "passed"


def totals(status):
    results = status.with_suffix(".xml")
    if not results.exists():
        return Counter(failed=1)
    counts = Counter(verdict(case) for case in ElementTree.parse(results).iter("testcase"))
    if status.read_text().strip() != "0" and counts["failed"] == 0:
        counts["failed"] += 1  # a crash outside any test
    return counts


def main(folder, *prefixes):
    counts = Counter()
    for status in sorted(Path(folder).glob("*.status")):
        if status.name.startswith(prefixes or ""):
            counts += totals(status)
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}", flush=True)
    return 0 if counts["passed"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
