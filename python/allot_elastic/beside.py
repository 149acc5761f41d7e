"""A worker in a separate process beside the training program.

liballot_elastic.so has its own libtorch, and a process can have only one; in a separate process it works with every version
of PyTorch. The two processes share the memory of state and gradient; calls go through a socket and take a tenth of a
millisecond. Both processes end together. This module imports neither torch nor numpy.
"""

import atexit
import contextlib
import ctypes
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
from multiprocessing.connection import Connection
from typing import NamedTuple

import allot_elastic

_SIGNAL_ON_PARENTS_DEATH = 1  # prctl(2)
_CLOSE_SECONDS = 10


class Now(NamedTuple):
    """The worker's state after a call."""

    rank: int
    world_size: int
    batch: allot_elastic.Batch
    work: float
    done: bool
    save_due: bool


def _now(worker):
    return Now(worker.rank, worker.world_size, worker.batch, worker.work, worker.done, worker.save_due)


def _open(memory, state_bytes, gradient_size, adapt, options):
    """A Worker, with its state and gradient in the memory that the program made."""
    # Map all pages now, because other workers wait while this one receives the state.
    shared = memoryview(mmap.mmap(memory, state_bytes + 4 * gradient_size, mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)))
    worker = allot_elastic.Worker(**options)
    worker.adapt(**adapt)
    return worker, [shared[:state_bytes]], shared[state_bytes:].cast("f")


def _serve(connection, memory):
    """Makes the calls that the program requests, until it ends."""
    worker = state = gradient = None
    calls = {
        "join": lambda step: worker.join(state, step),
        "accumulate": lambda loss, samples: worker.accumulate(gradient, loss, samples),
        "reduce": lambda loss, samples: worker.reduce(gradient, loss, samples),
        "after_step": lambda step: worker.after_step(step, state),
        "finish": lambda step: worker.finish(step, state),
        "say_done": lambda: worker.say_done(),
    }
    try:
        allot_elastic.load()  # takes half a second, in which the program imports what it needs
        while True:
            name, arguments = connection.recv()
            value = None
            if name == "close":
                break
            if name == "open":
                worker, state, gradient = _open(memory, *arguments)
            else:
                value = calls[name](*arguments)
            connection.send((value, _now(worker)))
        if worker:
            worker.close()  # sends the pending messages
    except EOFError:
        pass  # the program has ended before its first call
    except Exception as error:  # every error is passed to the program
        connection.send((error, None))


def main(connection, memory, program):
    """The main function of the separate process. `connection` and `memory` are open files, `program` is the program's pid."""
    ctypes.CDLL(None).prctl(_SIGNAL_ON_PARENTS_DEATH, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program handles it
    if os.getppid() == program:
        _serve(Connection(connection), memory)
    os._exit(0)  # libtorch takes long to unload


class Beside:
    """The separate process, started before its first call."""

    def __init__(self):
        ours, theirs = socket.socketpair()
        with theirs:
            package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            code = ("import sys; sys.path.insert(0, sys.argv[1]); from allot_elastic import beside; "
                    "beside.main(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))")
            self._memory = os.memfd_create("allot")
            self.process = subprocess.Popen(
                [sys.executable, "-c", code, package, str(theirs.fileno()), str(self._memory), str(os.getpid())],
                pass_fds=(theirs.fileno(), self._memory))
        self._connection = Connection(ours.detach())
        self.now = Now(-1, 0, allot_elastic.Batch(0, 0, 1.0), 0.0, False, False)

    def close(self):
        """Waits until the process has sent its pending messages."""
        with contextlib.suppress(OSError):  # it has ended
            self._connection.send(("close", ()))
        try:
            self.process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:  # the program was interrupted in a call that waits for other workers
            self.process.kill()

    def share(self, state_bytes, gradient_size):
        """Returns the shared memory: the state's bytes, then the gradient's float32 values."""
        os.ftruncate(self._memory, state_bytes + 4 * gradient_size)
        return mmap.mmap(self._memory, state_bytes + 4 * gradient_size)

    def open(self, state_bytes, gradient_size, adapt, options):
        """Joins the job, whose other workers wait for this one from then on."""
        os.close(self._memory)
        atexit.register(self.close)
        if threading.current_thread() is threading.main_thread():
            # Slurm signals all processes, other clusters only the program.
            signal.signal(signal.SIGTERM, lambda *_: self.process.send_signal(signal.SIGTERM))
        self.call("open", state_bytes, gradient_size, adapt, options)

    def call(self, name, *arguments):
        with contextlib.suppress(BrokenPipeError):  # the process has ended; it may have sent the reason
            self._connection.send((name, arguments))
        try:
            value, now = self._connection.recv()
        except (EOFError, OSError) as error:
            code = self.process.wait()
            raise allot_elastic.ElasticError(f"the worker beside this program ended with exit code {code}") from error
        if now is None:
            raise value
        self.now = now
        return value
