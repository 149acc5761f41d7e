"""Limits of Slurm's accounting under `allot serve`: of accounts, QOS and jobs, and licences. With a real slurmdbd."""

import pytest

import accounting
from allot_on_slurm import LONG, ONE_TYPE, USER, Serve, why_not
from waiting import json_of, wait_until

ALL = sum(gpus for *_, gpus in ONE_TYPE)
ACCOUNTS = (
    ("add", "account", "vision"), ("add", "account", "robots", "parent=vision"), ("add", "account", "speech"),
    ("modify", "account", "vision", "set", "GrpTRES=gres/gpu=6"),
    ("add", "qos", "short", "MaxTRESPerJob=gres/gpu=3", "MaxTRESPerUser=gres/gpu=4"),
    *(("add", "user", "nobody", f"account={account}", "qos=normal,short", "defaultqos=normal")
      for account in ("speech", "vision", "robots")))


# Takes longer than 10 s: a database and slurmdbd are started.
@pytest.fixture(scope="module")
def cluster(program):
    why = why_not(program) or accounting.missing()
    if why:
        pytest.skip(why)
    with accounting.throw_away(ACCOUNTS, nodes=ONE_TYPE, settings={"Licenses": "matlab:1"}) as one:
        yield one


@pytest.fixture
def serve(program, cluster, tmp_path, request):
    """With a parameter: the runtime."""
    one = Serve(program, cluster, tmp_path, runtime=getattr(request, "param", "slurm"))
    one.start("--metrics", "tcp:127.0.0.1:0")
    yield one
    one.kill()
    cluster.clear()


def account(name):
    return (f"--account={name}",)


def waits(serve, number, reason):
    return wait_until(lambda: (job := serve.job(number)) and job["reason"] == reason and job,
                      lambda: f"{number} to say {reason}: {serve.job(number)}\n{serve.log()[-3000:]}")


def pending_words(serve):
    """What Slurm left pending, as it said: GPUs stood idle for it."""
    return [record["why"] for record in json_of(serve.state / "journal.jsonl") if record.get("why", "").startswith("pending")]


@pytest.mark.parametrize("serve", ["slurm", "slurm:api=commands"], indirect=True)
def test_an_account_at_its_limit_leaves_the_rest_to_others(cluster, serve):
    first = serve.submit(f"allot min=1 max={ALL}", *LONG, options=account("vision"))
    serve.training(first, 6)
    below = serve.submit(f"allot min=2 max={ALL}", *LONG, options=account("robots"))
    other = serve.submit(f"allot min=1 max={ALL}", *LONG, options=account("speech"))
    serve.training(other, 12)  # the largest size of its table that is left
    reason = "account vision (GrpTRES): 6 GPUs together, 0 left"
    assert waits(serve, below, reason)["stage"] != "training"
    assert reason in serve.say("status").stdout
    cluster.client("scancel", str(first))
    serve.training(below, 6)
    assert not pending_words(serve)


def test_gpus_that_an_account_has_past_allot_count(cluster, serve):
    cluster.client("sbatch", "--uid=nobody", "--account=vision", "--partition=main", "--output=/dev/null", "--gres=gpu:v100:2",
                   "--nodelist=n1", "--wrap=sleep 1000")
    wait_until(lambda: sum(node["taken"] for node in serve.status()["nodes"]) == 2, "it to run")
    number = serve.submit(f"allot min=1 max={ALL}", *LONG, options=account("vision"))
    assert serve.training(number, 4)["max"] == ALL
    # What another job of the same QOS needs to begin is left; a limit of each job is one of the whole elastic job.
    short = [serve.submit("allot min=1 max=8", *LONG, options=(*account("speech"), "--qos=short")) for _ in range(2)]
    wait_until(lambda: sum(serve.training(one)["held"] for one in short) == 4, lambda: f"4 GPUs: {serve.status()['jobs']}")
    assert all(serve.job(one)["held"] <= 3 for one in short)
    assert serve.job(number)["held"] == 4 and not pending_words(serve)


def test_a_job_that_is_more_than_one_may_have_is_held_and_its_user_told(cluster, serve):
    number = serve.submit("allot min=4 max=8", *LONG, options=(*account("speech"), "--qos=short"))
    reason = "a job of at least 4 GPUs is more than one may have: 3 (MaxTRESPerJob of QOS short)"
    waits(serve, number, reason)
    wait_until(lambda: reason in cluster.client("scontrol", "show", "job", str(number), user=USER), "its user to be told")


# Takes longer than 10 s: the daemon waits 20 s before it takes back GPUs of a pending worker.
def test_a_job_without_its_licence_holds_no_gpus(cluster, serve):
    cluster.client("sbatch", "--uid=nobody", "--account=speech", "--partition=main", "--output=/dev/null", "--licenses=matlab",
                   "--wrap=sleep 1000")
    number = serve.submit(f"allot min=1 max={ALL}", *LONG, options=(*account("speech"), "--licenses=matlab"))
    waits(serve, number, "pending: Licenses")
    wait_until(lambda: "pending: Licenses" in pending_words(serve), lambda: f"it to be taken back: {serve.job(number)}")
    other = serve.submit(f"allot min=1 max={ALL}", *LONG, options=account("vision"))
    serve.training(other, 6)


def test_a_new_daemon_begins_with_the_failures_that_accounting_knows(program, cluster, tmp_path):
    cluster.client("scontrol", "update", "nodename=n2", "state=down", "reason=no power")
    cluster.resume("n2")
    known = ("sacctmgr", "--noheader", "--parsable2", "show", "event", "event=node", "nodes=n2", "format=state,timeend")
    wait_until(lambda: any(line.startswith("DOWN") and not line.endswith("Unknown")
                           for line in cluster.client(*known).splitlines()), "accounting to know that n2 is back")
    serve = Serve(program, cluster, tmp_path)
    try:
        serve.start()
        before = wait_until(lambda: [record for record in json_of(serve.state / "journal.jsonl")
                                     if record["what"] == "nodes before"], lambda: f"the past: {serve.log()[-3000:]}")
    finally:
        serve.kill()
    assert len(before) == 1 and before[0]["repaired"] == ["n2"] and before[0]["failures"] >= 1
