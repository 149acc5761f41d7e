"""Fair shares of users on a real Slurm: what another uid cannot take from a running job (docs/rules.md)."""

import pytest

from allot_on_slurm import LONG, USER, Serve
from shares import POLICIES, expect_even, spec
from waiting import wait_until

EVE = "games"

pytestmark = pytest.mark.skipif(USER is None, reason="needs root, for two users who are not the daemon's")


@pytest.fixture
def serve(program, cluster, tmp_path):
    one = Serve(program, cluster, tmp_path)
    one.policy = "index"  # it favours jobs that are new or said to be short
    one.start()
    yield one
    one.kill()
    cluster.clear()


@pytest.mark.parametrize("jobs, comment", [(60, "allot min=1"), (1, "allot min=20 max=20 work=1")], ids=["flood", "gang"])
def test_another_users_jobs_take_nothing_from_a_running_job_within_its_share(serve, jobs, comment):
    """Sixty jobs, or a gang that never joins: about 20 s each, because the job trains first."""
    number = serve.submit("allot min=1 max=4", *LONG)
    epoch = serve.training(number, 4)["epoch"]
    script = serve.cluster.folder.parent / "flood.sh"
    script.write_text(f"""for i in $(seq {jobs}); do
  sbatch --quiet --comment="{comment}" --output=/dev/null --wrap="sleep 1000" || exit 1
done""")
    serve.cluster.client("sh", script, user=EVE)
    wait_until(lambda: len(serve.status()["jobs"]) == 1 + jobs, "all of them to be seen")
    decisions = serve.status()["decisions"] + 5
    wait_until(lambda: serve.status()["decisions"] >= decisions, "five decisions more")
    job = serve.job(number)
    assert (job["held"], job["epoch"]) == (4, epoch), serve.log()[-3000:]


@pytest.mark.parametrize("policy", POLICIES)
def test_two_users_train_on_even_shares(daemon, root, policy):
    """Twenty GPUs, all of them used by jobs of one uid when those of another come: 10 s each, most of it training."""
    daemon.policy = spec(policy, root)
    daemon.start()
    jobs = {USER: [daemon.submit("allot gpus=5 min=1 max=5", *LONG) for _ in range(4)]}
    for number in jobs[USER]:
        daemon.training(number, 5)
    jobs[EVE] = [daemon.submit("allot gpus=5 min=1 max=5", *LONG, user=EVE) for _ in range(4)]

    def held(user):
        """By one status: between two of them GPUs go from one of the user's jobs to another one."""
        return sum(job["held"] for job in daemon.status()["jobs"] if job["user"] == user)

    wait_until(lambda: held(EVE) >= 8, lambda: f"the other user to have GPUs: {daemon.log()[-3000:]}")
    expect_even(daemon, lambda job: job["user"], [USER, EVE])
    assert held(USER) >= 8, daemon.log()[-3000:]
