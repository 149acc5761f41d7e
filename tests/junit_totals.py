"""Adds up JUnit files and prints "N passed, N failed[, N skipped]"; exit 1 unless all that ran passed.

Usage: junit_totals.py FILE EXIT [FILE EXIT]...   (EXIT: the status of the program that wrote FILE)
"""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


def verdict(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    # CTest also files a test whose program is missing under "skipped".
    by_ctest = case.get("status") == "notrun"
    meant = skipped.get("message", "").startswith(("SKIP_", "Disabled"))
    return "failed" if by_ctest and not meant else "skipped"


def totals(path, exit_status):
    if not Path(path).exists():
        return Counter(failed=1)
    counts = Counter(verdict(case) for case in ElementTree.parse(path).iter("testcase"))
    if exit_status != 0 and counts["failed"] == 0:
        counts["failed"] += 1  # a crash outside any test
    return counts


def main(arguments):
    counts = Counter()
    for path, exit_status in zip(arguments[::2], arguments[1::2]):
        counts += totals(path, int(exit_status))
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}", flush=True)
    return 0 if counts["passed"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
