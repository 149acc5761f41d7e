"""Frameworks that train in jobs which are resized by a restart: examples/frameworks, ended and run again at another size."""

import collections
import importlib.util
import os
import signal
import subprocess
import sys

import pytest

from cluster import free_ports
from forking import Source
from pythons import python_with_torch
from waiting import lines_of, text_of, wait_until

SAMPLES, EPOCHS, BATCH = 96, 4, 8


@pytest.fixture
def train(root, tmp_path):
    """train("trainer", 2): that program in two processes. They are forks of one, which has imported the framework."""
    sources, running = {}, []

    def start(name, processes):
        if name not in sources:
            environment = {**os.environ, "PYTHONPATH": str(root / "python"), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
            sources[name] = Source([sys.executable, root / "tests" / "live" / "fork_program.py",
                                    root / "examples" / "frameworks" / f"{name}.py", "--cpu", "--samples", SAMPLES, "--epochs", EPOCHS,
                                    "--batch", BATCH, "--out", tmp_path / "saved"], environment)
        port, = free_ports(1)
        for rank in range(processes):
            # As torchrun says it.
            place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": processes, "LOCAL_WORLD_SIZE": processes, "GROUP_RANK": 0,
                     "GROUP_WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "test",
                     "TRAINED_ON": tmp_path / f"samples-{processes}-{rank}", "LOADING_MS": 5}
            running.append(sources[name].fork({key: str(value) for key, value in place.items()},
                                              tmp_path / f"said-{processes}-{rank}"))
        return running[-processes:]

    yield start
    for process in running:
        process.kill()
    for source in sources.values():
        source.close()


# Takes longer than 10 s: processes of two sizes import the framework and train.
@pytest.mark.parametrize("name, needs", [("trainer", "transformers"), ("accelerated", "accelerate"),
                                         ("lightning_module", "lightning"), ("deepspeed_engine", "deepspeed")])
def test_no_sample_is_lost_or_doubled_over_a_restart_at_another_size(train, tmp_path, name, needs):
    for module in ("torch", "accelerate" if needs == "transformers" else needs, needs):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")

    def said(processes):
        return "".join(text_of(file) for file in sorted(tmp_path.glob(f"said-{processes}-*")))

    two = train(name, 2)
    wait_until(lambda: len(lines_of(tmp_path / "samples-2-0")) > 14, lambda: f"training in the second epoch: {said(2)[-3000:]}")
    for process in reversed(two):  # one hears it before the other
        process.kill(signal.SIGTERM)
    for process in two:
        process.wait()
    assert (tmp_path / "saved").exists() and "finished" not in said(2), said(2)
    for process in train(name, 1):
        process.wait()
    assert "finished" in said(1), said(1)

    counts = collections.Counter(int(number) for file in tmp_path.glob("samples-*") for line in lines_of(file)
                                 for number in line.split(": ")[1].split())
    assert counts == dict.fromkeys(range(SAMPLES), EPOCHS)
    assert lines_of(tmp_path / "samples-1-0"), "the rest was trained on by one"


LOADER = """
import collections, os
from allot_elastic.restart import Loader, share_of_batch

def loaders(samples, batch, processes, state=None):
    for rank in range(processes):
        os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(processes)}
        loader = Loader(range(samples), batch, seed=3)
        if state:
            loader.load_state_dict(state)
        yield loader

for samples, batch in ((100, 8), (97, 8), (64, 8), (9, 8), (15, 16), (16, 8)):
    seen, steps, state = collections.Counter(), 0, None
    for processes in (1, 3, 4, 2) * 30:  # some steps each, over epochs
        alike = list(loaders(samples, batch, processes, state))
        epoch, iterators = alike[0].epoch, [iter(loader) for loader in alike]
        for _ in range(3):
            shares = [next(iterator, None) for iterator in iterators]
            if shares[0] is None:
                assert shares == [None] * processes
                break
            sizes = [len(share) for share in shares]
            assert max(sizes) - min(sizes) <= 1 and 1 <= min(sizes) and sum(sizes) <= batch, (samples, batch, processes, sizes)
            seen.update(int(number) for share in shares for number in share)
            steps += 1
        assert len({str(loader.state_dict()) for loader in alike}) == 1
        state = alike[0].state_dict()
        epochs, taken = divmod(state["taken"], samples)
        assert sum(seen.values()) == state["taken"] and set(seen.values()) <= {epochs, epochs + 1}, (samples, batch, seen)
        if taken == 0:
            assert steps == epochs * len(alike[0]), (steps, epochs)
os.environ |= {"RANK": "0", "WORLD_SIZE": "3"}
for wrong, why in ((lambda: share_of_batch(64), "a batch of 64 must be divisible by the 3 processes"),
                   (lambda: Loader(range(9), 5), "a batch of 5 and a data set of 9 are too few for 3")):
    try:
        wrong()
    except ValueError as error:
        assert why in str(error), error
    else:
        raise AssertionError(why)
"""

STOP = """
import multiprocessing, os, subprocess
from torch.utils.data import DataLoader
from allot_elastic.restart import Stop

stop = Stop()
batches = iter(DataLoader(range(64), 8, num_workers=1))
next(batches)
for process in (*(child.pid for child in multiprocessing.active_children()), os.getpid()):
    subprocess.run(["kill", str(process)], check=True)  # as a cluster does: not of the parent
assert len(list(batches)) == 7 and stop.wanted()
"""

# One that is still there at the program's end is ended by multiprocessing, and waited for.
CHILD = """
import multiprocessing, subprocess, time
from allot_elastic.restart import Stop

stop = Stop()
child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(3600,), daemon=True)
child.start()
while "SigBlk:\\t0000000000004000" not in open(f"/proc/{child.pid}/status").read():
    time.sleep(0.01)
subprocess.run(["kill", str(child.pid)], check=True)
child.join(0.2)
assert child.is_alive()
"""


@pytest.mark.parametrize("script", [LOADER, STOP, CHILD], ids=["loader", "stop", "child"])
def test_a_program_goes_on_among_any_number_of_processes_and_after_sigterm(root, script):
    done = subprocess.run([python_with_torch(), "-c", script], env={**os.environ, "PYTHONPATH": str(root / "python")},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_page_has_the_script_that_the_slurm_tests_run(root):
    """slurm_test.py resizes a job of this script; docs/torch.md has it for one program, with fewer quotes."""
    lines = (root / "examples" / "frameworks" / "train.sh").read_text().replace('"', "").splitlines()
    script = "\n".join(line for line in lines if not line.startswith("# ")).replace("$@", "train.py")
    assert script in (root / "docs" / "torch.md").read_text().replace('"', "")
