"""A program of a test that imports what is heavy once, and is a process of its own for each line of its standard input."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from waiting import text_of, wait_until


class Forked:
    """A process that another one has forked."""

    def __init__(self, pid, output):
        self.pid, self.output = pid, output

    def kill(self, signum=signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signum)

    def wait(self):
        wait_until(lambda: not Path(f"/proc/{self.pid}").exists(), lambda: f"process {self.pid} to end: {text_of(self.output)[-2000:]}")


class Source:
    """Runs the command, which calls in_each_fork()."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(list(map(str, command)), env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def fork(self, environment, output):
        self.process.stdin.write(json.dumps({"environment": environment, "output": str(output)}) + "\n")
        self.process.stdin.flush()
        return Forked(int(self.process.stdout.readline()), output)

    def close(self):
        self.process.kill()
        self.process.communicate()


def in_each_fork():
    """Returns in a new process for each line."""
    for line in sys.stdin:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.environ.update(order["environment"])
            output = os.open(order["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            return
        print(child, flush=True)
    sys.exit(0)
