"""What tests of real processes wait with. Nothing is so at once: a machine may be slow."""

import json
import time
from pathlib import Path


def wait_until(holds, what, seconds=120):
    """The value of holds() once it is true; fails with `what` (a text, or a function that makes one).

    No timing: only a test that fails waits that long.
    """
    deadline = time.monotonic() + seconds
    while True:
        value = holds()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {seconds} s for {what() if callable(what) else what}"
        time.sleep(0.02)


def text_of(path):
    """Of a file that another process writes: "" before it has made it."""
    try:
        return Path(path).read_text(errors="replace")
    except FileNotFoundError:
        return ""


def lines_of(path):
    """The whole lines of such a file: the last may be half written."""
    return text_of(path).split("\n")[:-1]


def json_of(path):
    """Of a file with one JSON object a line, as the journal is."""
    return [json.loads(line) for line in lines_of(path)]
