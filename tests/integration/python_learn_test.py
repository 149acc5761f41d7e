"""allot.learn in Python: the program's pipeline, and a learner of one's own as its last step."""

import csv
import os

import numpy as np
import pytest

allot = pytest.importorskip("allot")

WORLD = {"cluster": "2x4"}


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Rigid jobs, many more than the cluster can run at once."""
    path, draw = tmp_path_factory.mktemp("trace") / "jobs.csv", np.random.default_rng(3)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["job_id", "submit_s", "gpus", "duration_s"])
        for job, at in enumerate(np.cumsum(draw.exponential(900, 120))):
            table.writerow([f"j{job}", round(at), draw.choice([1, 2, 4]), round(draw.lognormal(8, 1))])
    return path


@pytest.fixture
def learn(program, training, trace, tmp_path):
    def run(**options):
        return allot.learn(workload=trace, out=tmp_path / "run", iterations=1, quiet=True, program=program, **WORLD, **options)

    return run


def test_the_result_is_the_programs(learn, trace):
    learned = learn()
    assert [part["name"] for part in learned.result["parts"]][:2] == ["default rule", "tuned"]
    assert learned.unseen is None and "default rule" in repr(learned)
    assert allot.simulate(learned.policy, workload=trace, **WORLD).summary["avg_jct_s"] > 0


def test_a_learner_that_is_worse_is_tested_and_not_kept(learn):
    worlds = []
    learned = learn(learner=lambda world: worlds.append(world) or "fifo")
    divided = learned.result["divided"]
    assert (worlds[0]["from"], worlds[0]["to"]) == (str(divided["from_s"]), str(divided["validation_from_s"]))
    assert learned.learner_validation[0] > 1 and not learned.learner_kept
    assert learned.policy.startswith("learned:") and learned.unseen.policies[:2] == ["fifo", "accepted"]


def test_a_model_of_stable_baselines3_is_a_learner(learn):
    """Longer than 10 s where torch starts slowly: it trains a model of sb3-contrib."""
    contrib = pytest.importorskip("sb3_contrib")

    def ppo(world):
        env = allot.sb3.make_vec_env(2, threads=1, action="increments", max_jobs=16, interval=300, **world)
        model = contrib.MaskablePPO("MultiInputPolicy", env, n_steps=64, batch_size=64, device="cpu", seed=0)
        model.learn(128)
        return allot.Sb3Policy(model, name="ppo", deterministic=False, trained_on=[])

    learned = learn(learner=ppo)
    assert learned.unseen.policies[0] == "ppo" and "learner:" in repr(learned)
    assert learned.learner_kept == (learned.learner_validation[2] < 1)


def test_a_wrong_option_is_the_programs_error(learn):
    with pytest.raises(allot.UsageError, match="--nonsense"):
        learn(nonsense=1)


def test_a_program_without_training_is_told(tmp_path, trace):
    program = tmp_path / "allot"
    program.write_text("#!/bin/sh\necho nothing\n")
    os.chmod(program, 0o755)
    with pytest.raises(allot.RunError, match="without training"):
        allot.learn(workload=trace, out=tmp_path / "run", program=program)
