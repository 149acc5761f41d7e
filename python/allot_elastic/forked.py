"""Forks the processes of torchrun, which otherwise starts an interpreter for each. For allot_elastic.torchrun.

torchrun has `--start-method=fork` for functions, but those wait at their end until it reads their results, which it does not do
after SIGTERM. So this module replaces the one method that starts a process. A forked process has the same signals, variables,
output, `sys.argv`, `sys.path` and exit code as a started one. Torchrun does not use GPUs, which do not work after a fork, as long
as --nproc-per-node is a number.
"""

import atexit
import ctypes
import io
import os
import signal
import subprocess
import sys
import threading
import time
import types

import torch
from torch.distributed.elastic.multiprocessing import api


class Process:
    """A child process with the parts of subprocess.Popen that torchrun uses."""

    def __init__(self, pid, args):
        self.pid, self.args, self.returncode = pid, args, None

    def poll(self):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout=None):
        until = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired(self.args, timeout)
            time.sleep(0.01)
        return self.returncode

    def send_signal(self, what):
        if self.poll() is None:
            os.kill(self.pid, what)


def end_after(function):
    """Ends this process after the call with the interpreter's exit code, but without finalising the interpreter."""
    code = 0
    try:
        function()
    except SystemExit as end:
        code = end.code
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:  # pylint: disable=broad-exception-caught
        sys.excepthook(*sys.exc_info())
        code = 1
    try:
        threading._shutdown()  # as multiprocessing does
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit((code or 0) & 0xFF)


def fork_processes():
    """Lets torchrun fork processes that run a script by this interpreter. No effect if this PyTorch's torchrun is different."""
    handler = getattr(api, "SubprocessHandler", None)
    start = getattr(handler, "_popen", None)
    if start is None:
        return

    def forked(self, args, env):
        script = len(args) > 2 and tuple(args[:2]) == (sys.executable, "-u") and os.path.isfile(args[2])
        return _fork(args, env, self._stdout, self._stderr) if script else start(self, args, env)

    handler._popen = forked


def _fork(args, env, stdout, stderr):
    sys.stdout.flush()
    sys.stderr.flush()
    torchrun = os.getpid()
    pid = os.fork()
    if pid == 0:
        end_after(lambda: _run(args[2:], env, stdout, stderr, torchrun))
    return Process(pid, args)


def _end_with(torchrun):
    """Ends this process when torchrun is killed: who kills its group does not reach this one, which has a group of its own."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != torchrun:  # it was killed before
        os._exit(1)


def _run(words, env, stdout, stderr, torchrun):
    _end_with(torchrun)
    for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(one, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()  # PyTorch 2 signals the process group
    for file, fd in ((stdout, 1), (stderr, 2)):
        if file:
            os.dup2(file.fileno(), fd)
    sys.stdout, sys.stderr = (io.TextIOWrapper(open(fd, "wb", 0, closefd=False), errors=errors, write_through=True)
                              for fd, errors in ((1, "strict"), (2, "backslashreplace")))
    os.environ.clear()
    os.environ.update(env)
    if env.get("OMP_NUM_THREADS", "").isdigit():  # torchrun sets it after the import of PyTorch
        torch.set_num_threads(int(env["OMP_NUM_THREADS"]))
    if "numpy" in sys.modules:  # Python seeds its own random numbers again after a fork
        sys.modules["numpy"].random.seed()
    script = os.path.abspath(words[0])
    sys.argv, sys.path[0] = list(words), os.path.dirname(script)
    main = types.ModuleType("__main__")  # not by runpy, which restores __main__ and changes argv
    main.__file__ = script
    sys.modules["__main__"] = main
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    exec(code, main.__dict__)  # pylint: disable=exec-used
