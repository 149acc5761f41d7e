"""Rules of the operator (docs/rules.md) on a real Slurm: what `allot serve --rules FILE` does to users' jobs there."""

import time
import urllib.request

import pytest

from allot_on_slurm import LONG, ONE_TYPE, USER
from cluster import ENDED
from waiting import json_of, text_of, wait_until

ALL = sum(gpus for *_, gpus in ONE_TYPE)


def under(daemon, text, *more):
    """Started, or started anew, with these rules."""
    if daemon.process:
        daemon.kill()
    file = daemon.folder / "rules.toml"
    file.write_text(text)
    daemon.start("--rules", file, *more)


def given(daemon, number):
    """(time of the run, GPUs) of each time that the job was given something."""
    return [(record["at"], sum(gpus.bit_count() for _, gpus in record["shares"])) for record in json_of(daemon.state / "journal.jsonl")
            if record["what"] == "give" and record["job"].startswith(f"{number}-")]


def sizes(daemon, number):
    return [gpus for _, gpus in given(daemon, number)]


def decided(daemon):
    """Waits for a decision about what is so now."""
    begin = daemon.status()["decisions"]
    daemon.say("resume")
    wait_until(lambda: daemon.status()["decisions"] > begin, "a decision")


def foreign(cluster, gpus):
    """Slurm's number of a job that is not allot's, on n1, once it runs."""
    number = int(cluster.client("sbatch", "--parsable", "--partition=main", "--output=/dev/null", "--nodelist=n1",
                                f"--gres=gpu:v100:{gpus}", "--wrap=sleep 1000"))
    wait_until(lambda: cluster.jobs()[number]["JobState"] == "RUNNING", "it to run")
    return number


def waits(daemon, number, reason):
    return wait_until(lambda: (job := daemon.job(number)) and job["reason"].startswith(reason) and job,
                      lambda: f"{number} to say {reason}: {daemon.job(number)}\n{daemon.log()[-3000:]}")


def utc(seconds_from_now):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() + seconds_from_now))


# Takes longer than 10 s: a job is resized three times.
def test_a_job_grows_from_one_size_that_is_allowed_to_the_next(cluster, daemon):
    """1, 2, 4 GPUs as they come free, and never 3. What its user says narrows that, and cannot widen it."""
    others = [foreign(cluster, 1) for _ in range(3)]
    under(daemon, 'sizes = "powers-of-two"\n')
    for node in ("n2", "n3", "n4"):
        daemon.say("drain", "--node", node)
    number = daemon.submit("allot min=1 max=4", *LONG)
    daemon.training(number, 1)
    for there in (2, 2, 4):
        cluster.client("scancel", str(others.pop()))
        wait_until(lambda: daemon.status()["nodes"][0]["taken"] == len(others), "a GPU to be free")
        daemon.training(number, there)
        decided(daemon)
    assert sizes(daemon, number) == [1, 2, 4]
    own = daemon.submit("allot min=1 max=4 sizes=1|3|4", *LONG)
    wait_until(lambda: daemon.training(own) and daemon.training(number) and sizes(daemon, own)[-1] + sizes(daemon, number)[-1] <= 4,
               "both to train")
    decided(daemon)
    assert set(sizes(daemon, own)) <= {1, 4} and set(sizes(daemon, number)) <= {1, 2, 4}


# Takes longer than 10 s: a cooldown of 8 s passes.
def test_a_cooldown_is_over_before_a_job_is_changed(daemon):
    under(daemon, 'cooldown = "8s"\n')
    first = daemon.submit(f"allot min=1 max={ALL} cooldown=1", *LONG)
    daemon.training(first, ALL)
    second = daemon.submit("allot min=1 max=2", *LONG)
    assert waits(daemon, first, "cooldown, ")["held"] == ALL
    daemon.training(second, 2)
    (begin, _), (shrunk, _) = given(daemon, first)[:2]
    assert shrunk - begin >= 8, "a user's own cooldown is no shorter"
    assert given(daemon, second)[0][0] - begin >= 8


def test_a_job_that_is_never_moved_keeps_what_it_has_but_not_a_node_that_goes(daemon):
    under(daemon, '[[jobs]]\naccount = "prod*"\nmoves = false\n', "--metrics", "tcp:127.0.0.1:0")
    first = daemon.submit(f"allot min=1 max={ALL}", *LONG, options=("--account=production",))
    job = daemon.training(first, ALL)
    second = daemon.submit("allot min=1 max=2", *LONG)
    waits(daemon, first, "never moved")
    wait_until(lambda: daemon.job(second), "it to be known")
    decided(daemon)
    assert sizes(daemon, first) == [ALL] and not sizes(daemon, second)
    address = next(line.rsplit("tcp:", 1)[1] for line in daemon.log().splitlines() if "metrics at tcp:" in line)
    metrics = urllib.request.urlopen(f"http://{address.split()[0]}/metrics", timeout=120).read().decode()
    assert 'allot_jobs_pinned_by_rule{rule="never moved"} 1' in metrics, metrics
    daemon.say("drain", "--node", "n4")
    daemon.training(second, 2)
    assert daemon.training(first, behind=job["step"])["epoch"] > job["epoch"], "it trains on with the rest"


def test_a_job_is_changed_no_more_often_an_hour_than_it_may(cluster, daemon):
    under(daemon, "restarts_per_hour = 1\n")
    first = daemon.submit(f"allot min=1 max={ALL}", *LONG)
    daemon.training(first, ALL)
    second = daemon.submit("allot min=1 max=4", *LONG)
    daemon.training(second, 4)
    waits(daemon, first, "restarts an hour, ")
    cluster.client("scancel", str(second))
    wait_until(lambda: not daemon.job(second), "the second to be over")
    third = daemon.submit("allot min=1 max=1", *LONG)
    daemon.training(third)  # of the decision that gave it a GPU the first had no part
    assert sizes(daemon, first) == [ALL, ALL - 4], "free GPUs are no reason"
    under(daemon, "restarts_per_hour = 1\n")
    waits(daemon, first, "restarts an hour, ")
    assert sizes(daemon, first) == [ALL, ALL - 4], "the next daemon knows"


def test_an_account_gets_back_what_it_is_guaranteed(daemon):
    """From a policy that lets it wait: what others had of it meanwhile they give back, and train on."""
    daemon.policy = "fifo"
    under(daemon, '[[guarantees]]\naccount = "vision"\ngpus = 6\n')
    other = daemon.submit(f"allot min=1 gpus={ALL}", *LONG, options=("--account=speech",))
    job = daemon.training(other, ALL)
    own = daemon.submit("allot min=1 gpus=6 max=8", *LONG, options=("--account=vision",))
    assert daemon.training(own, 6)["held"] == 6
    assert daemon.training(other, behind=job["step"])["held"] <= ALL - 6
    assert "corrected for guarantees" in text_of(daemon.state / "journal.jsonl")


def test_jobs_leave_nodes_that_are_in_maintenance_and_none_begins_where_it_is_near(daemon):
    daemon.start()
    number = daemon.submit(f"allot min=1 max={ALL}", *LONG)
    job = daemon.training(number, ALL)
    under(daemon, f'[[maintenance]]\nnodes = "n4"\nfrom = "{utc(-60)}"\nto = "{utc(3600)}"\n'
                  f'[[maintenance]]\nnodes = "n3"\nfrom = "{utc(3600)}"\nto = "{utc(7200)}"\nlead = "2h"\n')
    job = wait_until(lambda: (j := daemon.training(number, 12, job["step"])) and "n4" not in j["nodes"] and j, "n4 to be left")
    assert job["nodes"] == {"n1": 4, "n2": 4, "n3": 4}, "what it has on a node with a window ahead it keeps"
    assert {node["node"] for node in daemon.status()["nodes"] if node["maintenance"]} == {"n4"}
    other = daemon.submit("allot min=1 max=4", *LONG)
    nodes = daemon.training(other)["nodes"]
    assert not set(nodes) & {"n3", "n4"}, nodes
    under(daemon, "")
    wait_until(lambda: "n4" in (daemon.training(number)["nodes"] | daemon.training(other)["nodes"]), "n4 to be used again")


# Takes longer than 10 s: graces of 12 s and 14 s pass.
def test_a_worker_that_does_not_leave_has_its_grace_and_is_then_ended_by_force(cluster, daemon):
    """As the operator says, or as its user says instead. Both are longer than without a rule (10 s)."""
    under(daemon, 'grace = "12s"\n')
    graces = {daemon.submit("allot max=1", *LONG): 12, daemon.submit("allot max=1 grace=14s", *LONG): 14}
    for number in graces:
        daemon.training(number)
    deaf = {number: daemon.workers(number)[0] for number in graces}
    for worker in deaf.values():
        cluster.client("scancel", "--signal=STOP", "--full", str(worker))
    for worker in deaf.values():
        daemon.say("drain", "--node", cluster.jobs()[worker]["NodeList"])
    for worker in deaf.values():
        wait_until(lambda worker=worker: cluster.jobs()[worker]["JobState"] in ENDED, lambda: f"its end: {daemon.log()[-3000:]}")
    for number, grace in graces.items():
        notice, force = [record for record in json_of(daemon.state / "journal.jsonl")
                         if record["what"] == "stop" and record["worker"].startswith(f"{number}-") and record["worker"].endswith(".0")][:2]
        assert not notice["kill"] and force["kill"] and force["why"] == "did not leave in time", (notice, force)
        assert force["at"] - notice["at"] >= grace
        daemon.training(number)  # elsewhere


@pytest.mark.parametrize(("words", "reason"), [
    ("moves=true", "comment: unknown key 'moves'"),
    ("cooldown=2h", "comment: 'cooldown' must be a time like 90 (seconds), 250ms, 5m, 1h30m, 2d, 1 week or 1-02:03:04, from 0 to 3600 s, got '2h'"),
    ("sizes=5|7", "a job must have a size that its rule allows")])
def test_what_a_user_may_not_say_is_told(daemon, words, reason):
    under(daemon, 'sizes = "powers-of-two"\n')
    number = daemon.submit(f"allot min=1 max=8 {words}", *LONG)
    waits(daemon, number, reason)
    wait_until(lambda: f"AdminComment=allot does not place this job: {reason}" in
               daemon.cluster.client("scontrol", "show", "job", str(number), user=USER), "its user to be told")
