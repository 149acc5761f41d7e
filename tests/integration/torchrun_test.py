"""allot_elastic.torchrun: PyTorch's own torchrun, whose processes are forked. As each PyTorch that is here has it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cluster import free_ports
from pythons import has_torch
from waiting import text_of, wait_until

PYTHONS = [python for python in ("/usr/bin/python3", sys.executable) if has_torch(python)]
PACKAGE = Path(__file__).resolve().parents[2] / "python"
# Debian's torchrun 1.13 stumbles over the default of --redirects and --tee on Python 3.11.
OPTIONS = ("--nnodes=1", "--nproc_per_node=2", "--redirects=1", "--tee=1")
WHAT_IT_IS = """
import sys
loaded = "torch" in sys.modules
import atexit, os, signal, torch, beside
rank = os.environ["RANK"]
def say(*words):  # in one piece: torchrun passes on what there is of a line
    sys.stdout.write(" ".join(map(str, words)) + "\\n")
say("as it is", rank, os.environ["WORLD_SIZE"], __name__, __file__, sys.argv, sys.path[0], torch.get_num_threads(),
    signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT) is signal.default_int_handler, os.getcwd())
say("loaded", loaded)
atexit.register(say, "at exit", rank)
sys.exit(0 if sys.argv[1] == "well" else 3)
"""
SAVES = """
import os, signal, sys, time
rank = os.environ["RANK"]
def save(*_):
    open("saved" + rank, "w").close()
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
open("up" + rank, "w").write(str(os.getpid()))
while True:
    time.sleep(0.05)
"""


@pytest.fixture(params=PYTHONS or [pytest.param(None, marks=pytest.mark.skip(reason="no PyTorch is here"))])
def torchrun(request, tmp_path):
    """torchrun(module, SCRIPT, arguments): its Popen, in a folder beside that of the script."""
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "beside.py").touch()

    def start(module, script, *arguments):
        (tmp_path / "program" / "it.py").write_text(script)
        port, = free_ports(1)
        meet = ("--rdzv_backend=c10d", f"--rdzv_endpoint=localhost:{port}", "--rdzv_id=test")  # --standalone always takes one port
        return subprocess.Popen([request.param, "-m", module, *meet, *OPTIONS, "program/it.py", *arguments], cwd=tmp_path, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                env={**os.environ, "PYTHONPATH": str(PACKAGE)} | {"OMP_NUM_THREADS": "1"})
    return start


# Takes longer than 10 s: PyTorch and its torchrun start twice.
def test_forked_processes_are_as_those_that_are_started(torchrun):
    lines = []
    for module in ("torch.distributed.run", "allot_elastic.torchrun"):
        process = torchrun(module, WHAT_IT_IS, "well")
        said = process.communicate(timeout=300)[0]
        assert process.returncode == 0, said
        assert said.count("loaded True") == (2 if module == "allot_elastic.torchrun" else 0)  # by the process that it is forked from
        lines.append(sorted(line for line in said.splitlines() if "as it is" in line or "at exit" in line))
    assert lines[0] == lines[1] and len(lines[0]) == 4


def test_the_exit_code_of_a_forked_process_is_known(torchrun):
    process = torchrun("allot_elastic.torchrun", WHAT_IT_IS, "badly")
    said = process.communicate(timeout=300)[0]
    assert process.returncode == 1
    assert "exitcode" in said and ": 3 " in said, said


def test_forked_processes_end_with_a_torchrun_that_is_killed(torchrun, tmp_path):
    process = torchrun("allot_elastic.torchrun", SAVES)
    wait_until(lambda: text_of(tmp_path / "up0") and text_of(tmp_path / "up1"), "both processes to run", 300)
    process.kill()
    process.wait()
    pids = [int(text_of(tmp_path / f"up{rank}")) for rank in (0, 1)]
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), "both processes to end", 60)


def test_forked_processes_are_told_to_end(torchrun, tmp_path):
    process = torchrun("allot_elastic.torchrun", SAVES)
    pids = [wait_until(lambda rank=rank: text_of(tmp_path / f"up{rank}"), "both to run", 300) for rank in (0, 1)]
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=300)[0]
    assert process.returncode == 1 and "got signal: 15" in said, said
    assert all((tmp_path / f"saved{rank}").exists() for rank in (0, 1))
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
