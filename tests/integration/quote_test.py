"""When a job would start that nobody has submitted yet: allot quote on exports, and of a daemon."""

import json
import os
import re
import subprocess

import pytest

from local import ENDLESS, Live
from waiting import wait_until

SQUEUE = "JOBID|USER|PARTITION|STATE|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|NODES|REASON|TRES_ALLOC\n"
# One node of 4 GPUs: ann has all of them for another hour at most, bob waits.
BUSY = (SQUEUE
        + "1|ann|gpu|RUNNING|2026-10-05T08:00:00|2026-10-05T08:00:00|2:00:00|3:00:00|1|None|gres/gpu=4\n"
        + "2|bob|gpu|PENDING|2026-10-05T09:10:00|N/A|0:00|1:00:00|1|Resources|gres/gpu=4\n")


@pytest.fixture
def busy(tmp_path):
    path = tmp_path / "busy.txt"
    path.write_text(BUSY)
    return path


@pytest.fixture
def quote(allot):
    """quote(*words) is the quote, with its jobs by name."""

    def ask(*words, **more):
        said = json.loads(allot("quote", *words, "--json", **more).stdout)
        said["jobs"] = {(job["job"], job["type"]): job for job in said["jobs"]}
        return said

    return ask


def levels(job):
    return [job["start"][level] for level in ("0.1", "0.5", "0.9")]


def test_a_job_starts_behind_those_that_run_and_wait(quote, busy):
    said = quote(busy, "--cluster", "1x4", "--gpus", "4", "--limit", "2h")
    start = levels(said["jobs"]["as asked", ""])
    assert start == sorted(start) and 0 < start[0] and start[2] <= 2 * 3600 + 1, "both limits bound it"
    assert said["gpus"] == 4 and said["free"] == 0
    assert said["running"] == [{"user": "ann", "jobs": 1, "gpus": 4}]
    assert said["waiting"] == [{"user": "bob", "jobs": 1, "gpus": 4}]


def test_the_neighbours_differ_in_one_point(quote, busy):
    jobs = quote(busy, "--cluster", "2x4:a100,3x4:v100", "--gpus", "4", "--limit", "2h", "--type", "a100")["jobs"]
    assert set(jobs) == {("as asked", "a100"), ("half", "a100"), ("double", "a100"), ("elastic", "a100"), ("shorter", "a100"),
                         ("other type", "v100")}
    assert jobs["half", "a100"]["gpus"] == 2 and jobs["double", "a100"]["gpus"] == 8
    assert (jobs["elastic", "a100"]["gpus"], jobs["elastic", "a100"]["max"]) == (2, 8)
    assert jobs["shorter", "a100"]["limit"] == 3600 and jobs["as asked", "a100"]["limit"] == 7200


def test_free_gpus_are_had_at_once(quote, busy):
    said = quote(busy, "--cluster", "3x4", "--gpus", "2")
    assert levels(said["jobs"]["as asked", ""]) == [0, 0, 0]
    assert said["free"] == 8 and ("shorter", "") not in said["jobs"], "without a limit none is shorter"


def test_a_shorter_job_may_be_backfilled(quote, tmp_path):
    """The waiting job needs both nodes; ann's ends in an hour at the latest, so half an hour fits before."""
    queue = tmp_path / "q.txt"
    queue.write_text(BUSY.replace("|1|Resources|gres/gpu=4", "|2|Resources|gres/gpu=8"))
    jobs = quote(queue, "--cluster", "2x4", "--gpus", "4", "--limit", "100m")["jobs"]
    assert levels(jobs["as asked", ""])[0] > 0 and levels(jobs["shorter", ""]) == [0, 0, 0]


def test_the_quote_of_a_job_is_the_forecast_of_the_same_job(allot, quote, tmp_path, busy):
    """The same futures, whether the job has been submitted or not, but with fewer decisions."""
    submitted = tmp_path / "submitted.txt"
    submitted.write_text(BUSY + "3|cat|gpu|PENDING|2026-10-05T10:00:00|N/A|0:00|2:00:00|1|Resources|gres/gpu=4\n")
    words = ["--cluster", "1x4", "--samples", "40"]
    forecast = json.loads(allot("forecast", submitted, *words, "--json").stdout)
    job = next(job for job in forecast["jobs"] if job["job"] == "3")
    asked = quote(busy, *words, "--gpus", "4", "--limit", "2h", "--user", "cat")["jobs"]["as asked", ""]
    assert levels(asked) == pytest.approx([time - forecast["now"] for time in levels(job)], rel=0.02)


def test_the_table_says_what_is_in_the_way(allot, busy, tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text('[[maintenance]]\nnodes = ["0"]\nfrom = "2026-10-06 00:00:00"\nto = "2026-10-07 00:00:00"\n')
    text = allot("quote", busy, "--cluster", "1x4", "--gpus", "2", "--rules", rules).stdout
    assert re.search(r"^as asked +2 +any +- ", text, re.MULTILINE), text
    assert "0 of 4 GPUs are free" in text and "run: 1 job of ann (4 GPUs)" in text, text
    assert "maintenance of 0 from 2026-10-06 00:00:00 to 2026-10-07 00:00:00 is not simulated" in text, text


def test_nodes_that_are_away_are_told(allot, busy, tmp_path):
    (tmp_path / "sinfo.txt").write_text("NODELIST STATE GRES CPUS\nn1 mixed gpu:4 64\nn2 drained gpu:4 64\n")
    assert "1 node of the node list left out: " in allot("quote", busy, "--cluster", "sinfo.txt", "--gpus", "2").stdout


@pytest.mark.parametrize("words, said", [
    (["--gpus", "0"], "at least 1 GPU, got 0"),
    (["--gpus", "9"], "the largest has 8 GPUs, got 9"),
    (["--gpus", "5", "--type", "v100"], "the largest of 'v100' has 4 GPUs, got 5"),
    (["--gpus", "1", "--type", "h100"], "one that the cluster has (a100, v100), got 'h100'"),
    (["--gpus", "1", "--limit", "0"], "must be > 0 s, got 0"),
    (["--gpus", "1", "--state", "x"], "one source"),
    ([], "--gpus"),
])
def test_what_cannot_be_is_named(program, busy, words, said):
    done = subprocess.run([program, "quote", busy, "--cluster", "2x4:a100,1x4:v100", *words], capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.returncode == 2 and said in done.stderr and done.stdout == "", done


def test_quotes_of_jobs_that_arrive_are_checked(allot):
    world = ["--workload", "law:philly", "--jobs", "1500", "--rate", "20", "--cluster", "16x8", "--rigid", "--horizon", "2d",
             "--samples", "8", "--every", "1h", "--check", "--json"]
    scores = json.loads(allot("forecast", *world, "--quotes").stdout)["scores"]
    start = next(score for score in scores if (score["what"], score["lead"]) == ("start", "all"))
    assert start["times"] > 50 and 0 < start["covered"] < 1, start
    assert all(score["times"] == 0 for score in scores if score["what"] != "start")


# ---- of a daemon ----


@pytest.fixture
def full(program, tmp_path):
    """A daemon whose four GPUs one job has."""
    counter = program.parent / "examples" / "elastic_counter"
    if not os.access(counter, os.X_OK):
        pytest.skip(f"not built: {counter}")
    one = Live(program, counter, tmp_path, cluster="2x2")
    one.submit("a", steps=ENDLESS, low=4, high=4, gpus=4)
    yield one
    one.end()


def test_a_daemon_quotes(full):
    full.serve("--forecast-every", "0.5", policy="fifo")
    full.training("a", at_least=4)
    full.submit("b", low=4, high=4, gpus=4)  # so that the daemon decides

    def asked():
        done = full.say("quote", "--gpus", "2", "--json", exit=None)
        said = json.loads(done.stdout) if done.returncode == 0 else {}
        return said if said.get("free") == 0 else None  # the moment of a forecast with the running job

    said = wait_until(asked, "a quote with the job that runs")
    job = said["jobs"][0]
    assert job["job"] == "as asked" and job["start"]["0.5"] is None or job["start"]["0.5"] > 0
    assert sum(each["gpus"] for each in said["running"]) == 4
    refused = full.say("quote", "--gpus", "5", exit=1)
    assert "the largest has 4 GPUs, got 5" in refused.stderr


def test_a_daemon_without_forecasts_makes_no_quotes(full):
    full.serve("--forecast-every", "0", policy="fifo")
    assert "makes no quotes" in full.say("quote", "--gpus", "2", exit=1).stderr


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to be another user")
def test_another_user_gets_a_quote_without_names(full, tmp_path_factory):
    run = tmp_path_factory.mktemp("run")
    for folder in (run, *run.parents):
        if folder.stat().st_uid == os.getuid() and str(folder) != "/":
            folder.chmod(folder.stat().st_mode | 0o055)
    full.environment = {**os.environ, "RUNTIME_DIRECTORY": str(run)}
    full.serve("--forecast-every", "0.5", policy="fifo")
    full.training("a", at_least=4)
    full.submit("b", low=4, high=4, gpus=4)  # so that the daemon decides

    def asked():
        done = subprocess.run([full.program, "quote", "--gpus", "2", "--json"], capture_output=True, text=True, timeout=120,
                              check=False, cwd="/", user=65534, group=65534, extra_groups=[],
                              env={"HOME": "/", "ALLOT_STATE": str(run)})
        said = json.loads(done.stdout) if done.returncode == 0 else {}
        return said.get("running")

    assert wait_until(asked, "a quote with the job that runs") == [{"user": "(other)", "jobs": 1, "gpus": 4}]
