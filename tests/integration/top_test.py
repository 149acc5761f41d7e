"""`allot top` in a terminal: a simulation as it goes, a daemon, and what it says without a terminal."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def in_a_terminal(program, *words, until, keys, rows=30, columns=110):
    """What the program shows, after the keys were pressed once `until` was on the screen; and its exit code."""
    pid, screen = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(program, [program, *words])
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    shown, pressed = b"", False
    while True:
        ready, _, _ = select.select([screen], [], [], 60)
        assert ready, shown.decode(errors="replace")
        try:
            part = os.read(screen, 65536)
        except OSError:  # the program has ended
            break
        if not part:
            break
        shown += part
        if not pressed and until.encode() in shown:
            os.write(screen, keys)
            pressed = True
    return shown.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_simulation_goes_by_until_q(program):
    shown, code = in_a_terminal(program, "top", "-p", "srtf", "--load", "0.9", "--cluster", "4x8", "--to", "2017-11-06",
                                "--speed", "20000", until="has ended", keys=b"q")
    assert code == 0
    assert "policy srtf" in shown and "GPUs [" in shown and "  job " in shown
    assert shown.endswith("\x1b[?25h\x1b[?1049l"), "the screen from before is back, with its cursor"


def test_a_simulation_needs_a_terminal(allot):
    done = allot("top", "-p", "fifo", "--load", "0.9", "--to", "2017-11-06", exit=2)
    assert "needs a terminal" in done.stderr


def test_without_a_daemon_it_says_so(allot, tmp_path):
    done = allot("top", "--state", str(tmp_path), exit=1)
    assert str(tmp_path) in done.stderr


# Takes longer than 10 s: every policy is run and drawn.
def test_the_page_of_policies_is_that_of_the_registry(program):
    done = subprocess.run([sys.executable, ROOT / "docs" / "policies.py", "--check", "--program", program],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
