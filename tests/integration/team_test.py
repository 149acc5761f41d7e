"""A training run in several processes, started as torchrun and srun start them."""

import os
import subprocess
import time

import pytest
from cluster import free_ports


def options(method, iterations=2):
    return ["train", "--setting", "dl2:size=S", "--method", method, "--iterations", str(iterations), "--batch", "3",
            "--validation-workloads", "3", "--validate-every", "1", "--threads", "1"]


LAUNCHERS = {
    "torchrun": lambda rank, port: {"RANK": rank, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port},
    "srun": lambda rank, port: {"SLURM_PROCID": rank, "SLURM_NTASKS": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": port},
}


def start_two(program, launcher, arguments, folder):
    port = str(free_ports(1)[0])
    return [
        subprocess.Popen([program, *arguments, "--out", folder], cwd=folder.parent, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, env={**os.environ, **LAUNCHERS[launcher](str(rank), port)})
        for rank in range(2)
    ]


@pytest.mark.parametrize("launcher, method", [("torchrun", "policy-gradient:rollouts=3"),
                                              ("srun", "evolution:pairs=2")])
def test_two_processes_train_the_weights_of_one(allot, program, tmp_path, training, launcher, method):
    allot(*options(method), "--out", tmp_path / "one")
    first, second = start_two(program, launcher, options(method), tmp_path / "two")
    outputs = [process.communicate(timeout=600) for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), outputs
    assert "validation:" in outputs[0][0] and outputs[1][0] == ""
    for kept in ("latest", "best"):
        one = tmp_path / "one" / kept / "model.safetensors"
        two = tmp_path / "two" / kept / "model.safetensors"
        assert two.read_bytes() == one.read_bytes(), kept


def test_the_loss_of_a_process_ends_the_run(program, tmp_path, training):
    first, second = start_two(program, "torchrun", options("policy-gradient:rollouts=3", 100_000), tmp_path / "run")
    while not (tmp_path / "run" / "latest").exists() and first.poll() is None:
        time.sleep(0.01)
    second.kill()
    second.communicate()
    _, stderr = first.communicate(timeout=600)
    assert first.returncode == 1 and "lost the others" in stderr, stderr


@pytest.mark.parametrize("given, told", [({"WORLD_SIZE": "2"}, "RANK"), ({"WORLD_SIZE": "two"}, "'two'"),
                                         ({"WORLD_SIZE": "2", "RANK": "2", "MASTER_ADDR": "127.0.0.1"}, "[0, 1]")])
def test_a_wrong_environment_is_told(allot, tmp_path, training, given, told):
    done = allot(*options("policy-gradient"), "--out", tmp_path / "run", exit=2, env={**os.environ, **given})
    assert told in done.stderr
