"""`allot advise` on a Slurm whose jobs are ordinary ones: what it reads, writes, leaves alone and restores."""

import json
import os
import pwd
import random
import subprocess
import time

import pytest

import accounting
import cluster as slurm
from waiting import wait_until

USERS = ("games", "man", "news", "nobody")
# Differences of age are no matter within a test, those of sizes are: jobs of more GPUs and nodes come first.
SETTINGS = {"JobSubmitPlugins": "partition", "SchedulerType": "sched/backfill", "PriorityType": "priority/multifactor",
            "PriorityWeightPartition": 2000, "PriorityWeightAge": 1000}
NODES = slurm.NODES[:2]  # 8 GPUs


@pytest.fixture(scope="module", name="cluster")
def cluster_of_users():
    if slurm.missing():
        pytest.skip(slurm.missing())
    if os.getuid():
        pytest.skip("jobs of several users are submitted as root")
    with slurm.throw_away(nodes=NODES, settings=SETTINGS) as one:
        yield one
        one.clear()


class Queue:
    """Waiting jobs behind jobs that take all GPUs, and an adviser."""

    def __init__(self, program, cluster, state):
        self.program, self.cluster, self.state = program, cluster, state
        for node, *_ in NODES:
            self.submit("games", 600, gpus=4, options=(f"--nodelist={node}",))
        wait_until(lambda: all(cluster.gpus_in_use()[node] == 4 for node, *_ in NODES), "all GPUs to be in use")

    def submit(self, user, minutes, gpus=1, options=()):
        return int(self.cluster.client("sbatch", "--parsable", "--partition=main", f"--gres=gpu:{gpus}", f"--time={minutes}",
                                       "--output=/dev/null", *options, "--wrap=sleep 1000", user=user, cwd="/"))

    def submit_longest_first(self, jobs=12):
        """By user the numbers of jobs, the longest first. Each takes all GPUs, so that no two start together."""
        by_user = {user: [] for user in USERS}
        for job in range(jobs):
            user = USERS[job % len(USERS)]
            by_user[user].append(self.submit(user, 60 * (jobs - job), gpus=4, options=("--nodes=2",)))
        return by_user

    def command(self, *words, **options):
        return subprocess.Popen([self.program, "advise", "--state", self.state, *words], env=self.cluster.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def advise(self, *words, code=0, **options):
        process = self.command(*words, **options)
        output, errors = process.communicate(timeout=300)
        assert process.returncode == code, errors
        return json.loads(output) if "--json" in words else output + errors

    def nices(self):
        return {number: int(job["Nice"]) for number, job in self.cluster.jobs().items() if job["JobState"] == "PENDING"}

    def order(self):
        """The waiting jobs as Slurm would start them."""
        jobs = self.cluster.jobs()
        return sorted(self.nices(), key=lambda number: (-int(jobs[number]["Priority"]), number))


@pytest.fixture(name="queue")
def queue_of_users(program, cluster, tmp_path):
    tmp_path.chmod(0o755)
    yield Queue(program, cluster, tmp_path / "state")
    cluster.clear()


def test_a_dry_run_says_what_it_would_write_and_writes_nothing(queue):
    queue.submit_longest_first()
    before = queue.nices()
    text = queue.advise("--once")
    told = queue.advise("--once", "--json")
    assert queue.nices() == before and not queue.state.exists()
    assert "dry run" in text and told["changes"]
    assert all(change["command"] in text for change in told["changes"])
    assert told["queues"][0]["estimate"]["advised_wait"] < told["queues"][0]["estimate"]["own_wait"]


@pytest.mark.parametrize("runtime", ["slurm", "slurm:api=commands"])
def test_each_user_has_his_short_jobs_first_and_his_turns_as_before(queue, runtime):
    by_user = queue.submit_longest_first()
    whose = {number: user for user, numbers in by_user.items() for number in numbers}
    turns = [whose[number] for number in queue.order()]
    told = queue.advise("--once", "--write", "--json", "--runtime", runtime)
    assert told["written"] == len(told["changes"]) > 0
    after = queue.order()
    assert [whose[number] for number in after] == turns
    for user, numbers in by_user.items():
        assert [number for number in after if whose[number] == user] == numbers[::-1]
    assert queue.advise("--once", "--write", "--json", "--runtime", runtime)["changes"] == []


def test_jobs_that_are_not_its_own_to_order_are_left_alone(queue):
    running = next(number for number, job in queue.cluster.jobs().items() if job["JobState"] == "RUNNING")
    left = {
        "held": queue.submit("news", 1, options=("--hold",)),
        "depends on another job": queue.submit("news", 1, options=(f"--dependency=afterany:{running}",)),
        "its begin time is to come": queue.submit("news", 1, options=("--begin=now+1hour",)),
        "has a Nice of its own": queue.submit("news", 1, options=("--nice=7",)),
    }
    by_user = queue.submit_longest_first()
    nices = queue.nices()
    told = queue.advise("--once", "--write", "--json")
    assert told["written"] > 0
    assert told["queues"][0]["left_alone"] == {why: 1 for why in left}
    assert all(queue.nices()[number] == nices[number] for number in left.values())
    changed = by_user["nobody"][0]
    queue.cluster.client("scontrol", "update", f"jobid={changed}", "nice=3")
    told = queue.advise("--once", "--write", "--json")
    assert told["queues"][0]["left_alone"]["somebody else changed its Nice"] == 1
    assert json.loads(queue.command("--undo", "--json").communicate()[0])["changed_by_others"] == [str(changed)]
    assert queue.nices() == {**nices, changed: 3}


def test_a_job_array_is_advised_as_one(queue):
    array = queue.submit("news", 600, gpus=4, options=("--nodes=2", "--array=0-3"))
    short = queue.submit("news", 1, gpus=4, options=("--nodes=2",))
    queue.advise("--once", "--write")
    assert queue.nices()[short] == 0 < queue.nices()[array]
    assert queue.advise("--once", "--write", "--json")["changes"] == []
    queue.advise("--undo")
    assert set(queue.nices().values()) == {0}


def test_it_writes_so_many_a_minute(queue):
    queue.submit_longest_first()
    assert queue.advise("--once", "--write", "--json", "--writes-per-minute", "2")["written"] == 2
    assert queue.advise("--once", "--write", "--json", "--writes-per-minute", "2")["written"] == 0


def test_undo_restores_every_nice_wherever_advice_was_killed(queue):
    queue.submit_longest_first()
    before = queue.nices()
    chance = random.Random()
    audit = queue.state / "advice.jsonl"

    def size():
        return audit.stat().st_size if audit.exists() else 0
    for number in range(6):
        known = size()
        process = queue.command("--write", "--interval", "0.05", "--writes-per-minute", "100000")
        if number % 2:  # while it writes; else whatever it does then
            wait_until(lambda known=known: size() > known, "the first record")
        time.sleep(chance.uniform(0.0, 0.3 if number % 2 else 0.8))
        process.kill()
        process.communicate()
        if audit.exists():
            queue.advise("--undo")
        assert queue.nices() == before


def test_undo_in_another_folder_is_an_error(queue, tmp_path):
    queue.state = tmp_path / "other"
    assert f"'{queue.state}' has none" in queue.advise("--undo", code=1)
    assert not queue.state.exists()


def test_whoever_may_not_change_jobs_of_others_is_told_whom_to_ask(queue):
    queue.submit_longest_first()
    before = queue.nices()
    queue.state = queue.cluster.folder.parent / "of-daemon"
    queue.state.mkdir()
    os.chown(queue.state, 1, 1)
    told = queue.advise("--once", "--write", code=1, user=1, group=1, extra_groups=[])
    assert "adminlevel=operator" in told
    assert queue.nices() == before


def test_an_adviser_goes_on_when_the_controller_is_back(queue):
    by_user = queue.submit_longest_first()
    queue.cluster.wait_for_saved_state()
    process = queue.command("--write", "--interval", "0.2", "--runtime", "slurm:timeout=0.5")
    try:
        wait_until(lambda: max(queue.nices().values()) > 0, "the first advice")
        queue.cluster.wait_for_saved_state()
        queue.cluster.kill("slurmctld")
        queue.cluster.start_controller()
        wait_until(queue.cluster.controller_answers, "the controller")
        short = queue.submit("nobody", 1)
        wait_until(lambda: queue.nices()[by_user["nobody"][-1]] > 0, "advice that has the new job first")
        assert queue.nices()[short] == 0 and process.poll() is None
    finally:
        process.kill()
        process.communicate()


# Takes longer than 10 s: a database and slurmdbd are started.
@pytest.fixture(scope="module", name="accounted")
def accounted_cluster():
    if accounting.missing():
        pytest.skip(accounting.missing())
    users = [("add", "user", user, "account=lab") for user in USERS]
    operator = ("modify", "user", "man", "set", "adminlevel=operator")
    with accounting.throw_away((("add", "account", "lab"), *users, operator), nodes=NODES, settings=SETTINGS) as one:
        yield one
        one.clear()


def doctor(program, cluster, user):
    done = subprocess.run([program, "doctor", "--runtime", "slurm", "--only", "advice", "--json", "--state", cluster.folder],
                          env=cluster.environment, capture_output=True, text=True, timeout=120, check=True,
                          user=user, group=user, extra_groups=[])
    return {check["check"]: check["health"] for check in json.loads(done.stdout)["checks"]}


def test_an_operator_may_write_and_learns_from_the_past(program, accounted):
    queue = Queue(program, accounted, accounted.folder.parent / "of-operator")
    queue.state.mkdir()
    operator, other = (pwd.getpwnam(name).pw_uid for name in ("man", "games"))
    os.chown(queue.state, operator, operator)
    by_user = queue.submit_longest_first()
    told = queue.advise("--once", "--write", user=operator, group=operator, extra_groups=[])
    assert "wrote" in told and "Slurm accounting storage is disabled" not in told
    assert queue.nices()[by_user["nobody"][0]] > 0
    assert doctor(program, accounted, operator) == {"advice.priority": "fine", "advice.rights": "fine"}
    assert doctor(program, accounted, other) == {"advice.priority": "fine", "advice.rights": "warn"}


def test_a_week_says_what_advice_was_worth_and_what_came(queue):
    queue.submit_longest_first(jobs=4)
    told = queue.advise("--once", "--write", "--json")
    estimate = told["queues"][0]["estimate"]
    queue.cluster.client("scancel", "--user=games", "--state=RUNNING")  # the first of the order starts
    wait_until(lambda: len(queue.nices()) == 3, "a job to start")
    queue.advise("--once", "--write")
    worth = queue.advise("--worth", "--json")
    assert worth["all"]["jobs"] == 4 == sum(user["jobs"] for user in worth["users"])
    assert worth["all"]["own_wait"] == pytest.approx(estimate["own_wait"])
    assert worth["all"]["advised_wait"] == pytest.approx(estimate["advised_wait"])
    assert worth["all"]["started"] == 1
    assert "all" in queue.advise("--worth")
    assert "allot_advice_jobs 4" in (queue.state / "worth.prom").read_text()
