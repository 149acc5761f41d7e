"""What README and the first pages show is what their commands print: pages.py says how, and rewrites them."""

import os

import pages
import pytest

QUICK = ["README.md", "docs/your-trace.md", "docs/plans.md"]
LONG = ["docs/tour.md", "docs/learning.md"]  # minutes of training: with ALLOT_PAGES=all


# Takes longer than 10 s: all commands of a page are run.
@pytest.mark.parametrize("page", [*QUICK, *LONG])
def test_a_page_shows_what_its_commands_print(program, training, page):
    if page in LONG and os.environ.get("ALLOT_PAGES") != "all":
        pytest.skip("long: ALLOT_PAGES=all runs it")
    assert pages.check(page, program) == []


def test_numbers_are_compared_to_the_digit_or_by_tolerance():
    assert pages.equal("> learned  6h 22m  1.222 [1.131, 1.320]", "> learned  6h 22m  1.222 [1.131, 1.320]  15m 53s", False)
    assert not pages.equal("learned  6h 22m", "learned  6h 23m", False)
    assert pages.equal("learned  6h 22m  0.80", "learned  6h 30m  0.81  9", True)
    assert not pages.equal("learned  6h 22m", "learned  7h 30m", True)
    assert not pages.equal("learned  6h 22m", "drf  6h 22m", True)


def test_blocks_are_read_as_commands_and_what_they_print():
    page = "```\n$ allot list \\\n    policies\nfifo\n```\n```python\nx = 1\n```\n<!-- unchecked -->\n```\n$ allot serve\n```\n```\n$ allot train\na\n```\n"
    found = pages.commands_of(page)
    assert [(c.text, c.trained, [t for _, t in c.lines]) for c in found] == [
        ("allot list policies", False, ["fifo"]), ("allot train", True, ["a"])]


def test_shown_lines_are_renewed():
    command = pages.Command("allot compare", False, [(7, "  policy  avg JCT"), (8, "> fifo     2h 00m")])
    printed = ["  policy  avg JCT  p99", "  ────────────────────", "> fifo     3h 00m   9h", "  1 workload."]
    assert pages.faults_of(command, printed) == [(8, "> fifo     2h 00m")]
    assert pages.renewed(command, printed) == {7: "  policy  avg JCT", 8: "> fifo     3h 00m"}
