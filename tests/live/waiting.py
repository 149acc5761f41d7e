"""What tests of real processes wait with. Nothing is so at once: a machine may be slow."""

import json
import os
import signal
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


def interrupted(start, holds, tries=20):
    """(exit code, stderr) of a program that got SIGINT while holds(process). It is stopped whenever that is asked, so that it
    cannot go on meanwhile, and started anew when it was over before.

    start() gives a Popen with its stderr piped.
    """
    for _ in range(tries):
        process = start()
        while process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            hit = holds(process)
            if hit:
                process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGCONT)
            if hit:
                _, stderr = process.communicate(timeout=120)
                return process.returncode, stderr
            time.sleep(0.001)
        process.communicate()
    raise AssertionError(f"in {tries} tries it was always over before")


def cpu_seconds(process):
    """What a process has had of a processor: its own clock, whatever else the machine does."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
