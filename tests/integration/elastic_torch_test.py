"""PyTorch programs with a data set, which workers of a daemon of the tests' own share while they come, go and die."""

import itertools
import json
import os
import subprocess
import sys

import pytest

from daemon import Daemon
from forking import Source
from pythons import python_with_its_own_torch, python_with_torch
from waiting import lines_of, wait_until


class ForkingDaemon(Daemon):
    """Its workers are forks of one process, so that a test with many imports PyTorch once."""

    def __init__(self, folder, command, environment, arguments):
        super().__init__(folder, command, environment)
        self.source = Source([*command, "--fork", *arguments], {**os.environ, **environment})

    def __exit__(self, *_):
        super().__exit__()
        self.source.close()

    def spawn(self, environment, output, arguments):
        return self.source.fork({name: value for name, value in environment.items() if name.startswith("ALLOT_")}, output)


@pytest.fixture
def environment(program, root):
    library = program.parent / "liballot_elastic.so"
    if not library.exists():
        pytest.skip(f"not built: {library} (needs libtorch)")
    return {"PYTHONPATH": str(root / "python"), "ALLOT_ELASTIC_LIBRARY": str(library)}


@pytest.fixture
def counting(root):
    return root / "tests" / "live" / "count_samples.py"


def epochs_of(daemon, *workers):
    """What rank 0 said after each epoch."""
    return sorted((json.loads(line) for worker in workers for line in lines_of(daemon.folder / f"{worker}.out")
                   if line.startswith("{")), key=lambda said: said["steps"])


# Takes longer than 10 s: the workers train between 20 resizes.
def test_no_sample_is_lost_or_doubled_over_20_resizes(environment, counting, tmp_path):
    """Workers come and go within epochs, rank 0 among them, and one is killed."""
    arguments = ("--samples", 211, "--epochs", 100000, "--batch", 8, "--pace-ms", 4)
    names = (f"w{number}" for number in itertools.count())
    with ForkingDaemon(tmp_path, [python_with_torch(), counting], environment, arguments) as daemon:
        def trained(steps):
            at = daemon.step(members[0])
            wait_until(lambda: daemon.step(members[0]) >= at + steps, lambda: f"training: {daemon.output(members[0])[-2000:]}")

        def add():
            members.append(next(names))
            daemon.start(members[-1])

        members = []
        add()
        daemon.regroup(*members)
        for resize in range(20):
            trained(3)
            if resize == 11:
                lost = members.pop()
                daemon.processes[lost].kill()
                wait_until(lambda: daemon.heard(members[0], "broken"), f"{lost} to be missed")
            elif resize % 5 in (0, 1, 3):
                add()
            else:
                members.pop(0 if resize % 2 else -1)
            daemon.regroup(*members)
        told = daemon.step(members[0])
        everybody = list(daemon.processes)
        wait_until(lambda: epochs_of(daemon, *everybody) and epochs_of(daemon, *everybody)[-1]["steps"] > told,
                   "an epoch to end after the last resize")
        said = epochs_of(daemon, *everybody)
    assert [one["epoch"] for one in said] == list(range(len(said)))
    assert all(one["least"] == one["most"] == one["epoch"] + 1 for one in said), said
    assert all(one["steps"] == 27 * (one["epoch"] + 1) for one in said), said
    assert said[-1]["rate"] == pytest.approx(0.1 * 0.9 ** len(said))
    assert said[-1]["without_gradient"] == [1, 1], "weight decay moves parameters that no worker has a gradient of"


# Takes longer than 10 s: six epochs are trained twice.
def test_a_job_that_lost_its_workers_goes_on_as_if_it_had_not(environment, counting, tmp_path):
    """Weights are the same bit for bit: state, rate, order of samples and random numbers were resumed."""
    def finished(daemon, worker):
        wait_until(lambda: daemon.heard(worker, "finished"), lambda: f"{worker} to finish: {daemon.output(worker)[-2000:]}")
        return epochs_of(daemon, worker)[-1]

    ends = []
    for lost in (False, True):
        folder = tmp_path / str(lost)
        folder.mkdir()
        arguments = ("--samples", 201, "--epochs", 6, "--pace-ms", 40)
        with ForkingDaemon(folder, [python_with_torch(), counting], environment, arguments) as daemon:
            daemon.start("w0")
            daemon.regroup("w0")
            if lost:
                wait_until(lambda: epochs_of(daemon, "w0"), lambda: f"an epoch to end: {daemon.output('w0')[-2000:]}")
                daemon.tell("w0", "save")
                wait_until(lambda: daemon.heard("w0", "saved"), "a checkpoint")
                daemon.processes["w0"].kill()
                daemon.start("w1")
                daemon.regroup("w1")
            ends.append(finished(daemon, "w1" if lost else "w0"))
    assert ends[0] == ends[1]


# Takes longer than 10 s: every worker and its loader import PyTorch.
def test_a_pytorch_that_is_not_the_librarys_and_processes_that_load_data(environment, counting, tmp_path):
    command = [python_with_its_own_torch(), counting]
    with Daemon(tmp_path, command, environment) as daemon:
        daemon.start("w0", "w1", arguments=("--epochs", 4, "--loaders", 1, "--pace-ms", 30))
        daemon.regroup("w0", "w1")
        daemon.announce("w0")
        assert daemon.processes["w1"].wait(timeout=240) == 0, daemon.output("w1")  # it has left
        assert daemon.processes["w0"].wait(timeout=240) == 0, daemon.output("w0")
        assert [(one["least"], one["most"]) for one in epochs_of(daemon, "w0")] == [(1, 1), (2, 2), (3, 3), (4, 4)]


LEAVES = """
import atexit, logging.handlers, sys
import allot_elastic.leaving
kept = logging.handlers.MemoryHandler(100, target=logging.StreamHandler(sys.stdout))
logging.getLogger().addHandler(kept)
logging.warning("logged")
atexit.register(print, "at exit")
try:
    allot_elastic.leaving.leave()
finally:
    print("finally", end=" ")
    if len(sys.argv) > 1:
        raise RuntimeError("of the program's")
"""


def test_a_program_that_leaves_ends_as_others_do(environment):
    command = [sys.executable, "-c", LEAVES]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "finally at exit\nlogged\n", "")
    done = subprocess.run([*command, "fail"], env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 1 and "of the program's" in done.stderr


def test_batches_that_grow_and_passes_of_few_samples_count_each_sample_once(environment, counting, tmp_path):
    arguments = ("--samples", 50, "--epochs", 2, "--batch", 8, "--most", 32, "--most-local", 3)
    with ForkingDaemon(tmp_path, [python_with_torch(), counting], environment, arguments) as daemon:
        daemon.start("w0", "w1")
        daemon.joined("w0", "w1")
        for worker in ("w0", "w1"):
            daemon.tell(worker, "batch", workers=2, local=3, accumulation=4)  # 30, then 20 are left
        daemon.announce("w0", "w1")
        wait_until(lambda: daemon.heard("w0", "finished"), lambda: f"it to finish: {daemon.output('w0')[-2000:]}")
        said = epochs_of(daemon, "w0")
    assert [(one["least"], one["most"]) for one in said] == [(1, 1), (2, 2)]
    assert said[-1]["steps"] < 2 * 50 // 8


STATE_DICTS = """
import collections, math, torch
from allot_elastic.plain import packed, unpacked
value = {"milestones": collections.Counter({30: 1}), "best": math.inf, "groups": [{"lr": 0.1, "betas": (0.9, 0.999)}],
         "average": torch.arange(6, dtype=torch.bfloat16).view(2, 3), "none": None, "empty": torch.zeros(0), "on": True}
found = unpacked(packed(value) + b"rest")
assert torch.equal(found.pop("average"), value.pop("average")) and found.pop("empty").shape == value.pop("empty").shape
assert found == value, found
try:
    packed({"function": print})
except TypeError as error:
    assert "got <built-in function print>" in str(error)
else:
    raise AssertionError("a function is no state")
"""


def test_state_dicts_are_handed_on_without_pickle(environment):
    done = subprocess.run([python_with_torch(), "-c", STATE_DICTS], env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


OPTIMIZERS = """
import copy, torch
from allot_elastic.state import TrainingState

settings = {"SGD": {"momentum": 0.9, "dampening": 0.5}, "Adam": {}, "NAdam": {}, "RAdam": {}, "ASGD": {}, "Rprop": {}, "Adagrad": {
    "initial_accumulator_value": 0.1}, "Adadelta": {}, "RMSprop": {"momentum": 0.9}}
draws = torch.Generator().manual_seed(1)
begin, data = torch.nn.Linear(3, 2), torch.randn(12, 5, 3, generator=draws)
begin.register_parameter("frozen", torch.nn.Parameter(torch.ones(1), requires_grad=False))

def made(name):
    model = copy.deepcopy(begin)
    return model, getattr(torch.optim, name)(model.parameters(), lr=0.1, **settings[name])

def train(model, optimizer, rows):
    for row in rows:
        optimizer.zero_grad(set_to_none=True)
        model(row).square().mean().backward()
        optimizer.step()

for name in settings:
    alone = made(name)
    train(*alone, data)
    workers = [made(name) for _ in range(3)]  # each takes over from the one before, the first time before any step
    states, at = [TrainingState(*worker, []) for worker in workers], 0
    for state in states:
        state.bind(bytearray(state.bytes))
    for (worker, state), newcomer, steps in zip(zip(workers, states), states[1:], (0, 7)):
        train(*worker, data[at:at + steps])
        at += steps
        state.take()
        newcomer._block.copy_(state._block)
        newcomer.put()
    train(*workers[-1], data[at:])
    states[0]._block.copy_(states[-1]._block)
    states[0].put()
    for here, there in zip(alone[0].parameters(), workers[-1][0].parameters()):
        assert torch.equal(here, there), (name, here, there)
"""


def test_each_optimizer_goes_on_in_another_worker_as_it_began(environment):
    """Also those whose state does not begin with zeros."""
    done = subprocess.run([python_with_torch(), "-c", OPTIMIZERS], env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


COMPILER = """
import sys, allot_elastic.torch, torch
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.AdamW(model.parameters())
model(torch.ones(2, 3)).sum().backward()
optimizer.step()
optimizer.zero_grad()
assert "sympy" not in sys.modules, "PyTorch's compiler was imported"
import torch._dynamo.config
assert torch.compile(lambda x: 2 * x, backend="eager")(torch.ones(1)) == 2
model(torch.ones(2, 3)).sum().backward()
optimizer.step()
assert torch._dynamo is sys.modules["torch._dynamo"] and torch._dynamo.__file__
"""


# Takes longer than 10 s: PyTorch's compiler is imported.
def test_pytorchs_compiler_is_imported_by_those_who_compile(environment):
    python = python_with_its_own_torch()
    done = subprocess.run([python, "-c", COMPILER], env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
