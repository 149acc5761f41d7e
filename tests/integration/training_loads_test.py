"""At which offered loads `allot train` trains."""

import json

import pytest

# 100 jobs of 2 GPUs for 20 minutes, one every 10 minutes: they keep 4 GPUs busy, a load of 0.5 on 8 GPUs.
JOBS = "job_id,submit_s,gpus,duration_s\n" + "".join(f"{i},{600 * i},2,1200\n" for i in range(100))
TRAIN = ["train", "--workload", "jobs.csv", "--cluster", "2x4", "--teacher", "fifo", "--batch", "1", "--episode-span", "6h",
         "--validation-workloads", "1", "--method", "policy-gradient:rollouts=3", "--iterations", "1", "--out", "run"]


@pytest.fixture
def train(allot, training, tmp_path):
    (tmp_path / "jobs.csv").write_text(JOBS)
    return lambda *options, exit=0: allot(*TRAIN, *options, exit=exit)


def loads(tmp_path):
    return json.loads((tmp_path / "run" / "latest" / "config.json").read_text())["training_loads"]


def test_a_thin_trace_is_trained_at_what_it_offers(train, tmp_path):
    said = train().stderr
    assert "'jobs' offers 2x4 a load of 0.493 in 6h" in said and "--training-loads" in said
    assert loads(tmp_path) == [0.26, 0.37, 0.49]


def test_load_is_that_of_training(train, tmp_path):
    train("--load", "0.3")
    assert loads(tmp_path) == [0.3]


@pytest.mark.parametrize("option", ["--load", "--training-loads"])
def test_a_load_that_the_trace_does_not_offer_is_refused(train, option):
    said = train(option, "1.3", exit=3).stderr
    assert f"{option} must be what a part of 'jobs' offers to 2x4: at most 0.4931 in 6h" in said and "got 1.3" in said


def test_two_loads_are_one_too_many(train):
    said = train("--load", "0.3", "--training-loads", "0.4", exit=2).stderr
    assert "--load" in said and "0.3" in said and "0.4" in said


def test_nothing_is_resumed_before_the_first_checkpoint(train):
    assert "start without --resume" in train("--resume", exit=2).stderr
