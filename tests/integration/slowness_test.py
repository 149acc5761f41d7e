"""--slowness: GPUs of one type that differ slow down the jobs that run on them."""

import json

import pytest


@pytest.fixture(name="run")
def _run(allot, tmp_path):
    """Plays a job of two GPUs and 1000 s on one node, with these rows of slowness."""
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s,model\na,0,2,1000,vgg\n")
    (tmp_path / "rates.csv").write_text("profile,gpu_type,gpus,rate,slowness_class\nvgg,gpu,2,10,conv\n")

    def run(rows, *more, **expected):
        (tmp_path / "slowness.csv").write_text("node,gpu,class,slowness\n" + rows)
        return allot("compare", "-w", tmp_path / "jobs.csv", "--catalogue", tmp_path / "rates.csv", "--cluster", "1x2", "--slowness",
                     tmp_path / "slowness.csv", "--policies", "fifo", *more, **expected)
    return run


def test_a_job_is_as_slow_as_its_slowest_gpu(run):
    done = run("0,1,conv,1.2\n0,0,any,1.5\n", "--json")
    assert json.loads(done.stdout)["policies"][0]["runs"][0]["avg_jct_s"] == 1200


def test_a_slowness_that_no_job_feels_is_told(run, tmp_path):
    done = run("0,1,rnn,1.2\n")
    assert f"the model of no job of '{tmp_path / 'jobs.csv'}' has a slowness_class that '{tmp_path / 'slowness.csv'}' names" in done.stderr


def test_a_file_of_another_cluster_is_refused(run):
    done = run("0,1,conv,1.2\n1,0,conv,1.1\n", exit=3)
    assert "slowness.csv:3: the file is of another cluster: it names node 1, '1x2' has 1 (from 0)" in done.stderr


def test_a_log_keeps_the_slowness(run, allot, tmp_path):
    run("0,1,conv,1.2\n", "--log", tmp_path / "logs")
    (replayed,) = json.loads(allot("replay", tmp_path / "logs" / "cluster" / "fifo-v0", "--json").stdout)
    assert (replayed["jobs"], replayed["different"]) == (1, 0)
