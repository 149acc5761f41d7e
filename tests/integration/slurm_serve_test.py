"""`allot serve --runtime slurm` in charge of a real Slurm: users' jobs from sbatch to their end, whatever dies."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "live"))
import cluster as slurm  # noqa: E402
from daemon import wait_until  # noqa: E402

USER = "nobody" if os.getuid() == 0 else None
LONG = ("--steps", 1000000, "--pace-ms", 4)


class Serve:
    """A cluster, a state folder, and the daemon that serves both at the moment."""

    def __init__(self, program, cluster, folder):
        self.program, self.cluster, self.folder = program, cluster, folder
        self.state = folder / "state"
        self.process = None
        self.homes = 0

    def start(self):
        with (self.folder / "serve.log").open("a") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--runtime", "slurm", "--policy", "drf", "--state", self.state,
                 "--interval", "0.5", "--poll", "0.05", "--worker-timeout", "10"],
                env=self.cluster.environment, stdout=log, stderr=log)
        wait_until(self.status, lambda: f"a daemon that answers: {self.log()[-2000:]}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        return (self.folder / "serve.log").read_text()

    def status(self):
        done = subprocess.run([self.program, "status", "--json", "--state", self.state], capture_output=True, text=True,
                              timeout=30)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def submit(self, comment, *arguments, options=(), script=None):
        """Slurm's number of a user's job."""
        self.homes += 1
        home = self.cluster.folder.parent / f"{self.folder.name}-{self.homes}"
        home.mkdir()
        home.chmod(0o777)
        bin_folder = self.program.parent
        text = script or f'#!/bin/bash\n"{bin_folder}/allot-elastic" run -- "{bin_folder}/examples/elastic_mlp" ' \
                         f'{" ".join(map(str, arguments))}\n'
        (home / "train.sh").write_text(text)
        return int(self.cluster.client("sbatch", "--parsable", f"--comment={comment}", *options, "train.sh", user=USER,
                                       cwd=home))

    def job(self, number):
        return next((job for job in (self.status() or {"jobs": []})["jobs"]
                     if job["job"].startswith(f"{number}-")), None)

    def training(self, number, gpus=1, behind=0, epoch=0):
        """Waits until the job trains on at least so many GPUs, behind a step, in this epoch or a later one."""
        def there():
            job = self.job(number)
            return job and job["stage"] == "training" and job["held"] >= gpus and job["step"] > behind \
                and job["epoch"] >= epoch and job
        return wait_until(there, lambda: f"{number} to train on {gpus}: {self.job(number)}\n{self.log()[-3000:]}", 60)

    def slurm_state(self, number):
        return self.cluster.jobs()[number]["JobState"]

    def ended(self, number, state):
        wait_until(lambda: self.slurm_state(number) == state,
                   lambda: f"{number} to be {state}: {self.slurm_state(number)}\n{self.log()[-3000:]}", 60)

    def workers(self, number):
        """Slurm's numbers of the worker jobs that have not ended."""
        return [worker for worker, job in self.cluster.jobs().items()
                if job["JobName"].endswith(f"-of-{number}") and job["JobState"] not in slurm.ENDED]

    def journal(self):
        return [json.loads(line) for line in (self.state / "journal.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def cluster(program):
    if slurm.missing():
        pytest.skip(slurm.missing())
    if not (program.parent / "examples" / "elastic_mlp").exists():
        pytest.skip("not built: examples/elastic_mlp (needs libtorch)")
    listed = json.loads(subprocess.run([program, "list", "--json"], capture_output=True, text=True, check=True).stdout)
    if "slurm" not in [runtime["id"] for runtime in listed.get("runtimes", [])]:
        pytest.skip("built without libslurm")
    with slurm.throw_away() as one:
        yield one


@pytest.fixture
def serve(program, cluster, tmp_path):
    one = Serve(program, cluster, tmp_path)
    one.start()
    yield one
    one.kill()
    cluster.cancel_all()
    wait_until(lambda: not any(cluster.gpus_in_use().values()), "all GPUs to be free")


def test_jobs_share_the_cluster_and_all_finish(serve):
    elastic = [serve.submit("allot min=1 max=3 model=resnet50", "--steps", 250, "--pace-ms", 4) for _ in range(2)]
    rigid = serve.submit("", options=("--gres=gpu:2",), script="#!/bin/bash\necho $CUDA_VISIBLE_DEVICES\n")
    for number in (*elastic, rigid):
        serve.ended(number, "COMPLETED")
    wait_until(lambda: not any(serve.cluster.gpus_in_use().values()), "all GPUs to be free")
    over = {record["job"].split("-")[0]: record for record in serve.journal() if record["what"] == "over"}
    assert {over[str(number)]["state"] for number in (*elastic, rigid)} == {"finished"}
    assert over[str(elastic[0])]["step"] > 0


def test_a_killed_daemon_goes_on_where_it_was(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    workers = serve.workers(number)
    serve.kill()
    serve.start()
    after = serve.training(number, 2, behind=job["step"])
    assert after["epoch"] == job["epoch"]
    assert serve.workers(number) == workers, "none was started twice, none was ended"


def test_a_killed_worker_is_replaced(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    victim = min(serve.workers(number))  # rank 0
    serve.cluster.client("scancel", "--signal=KILL", "--full", str(victim))
    wait_until(lambda: victim not in serve.workers(number), "the worker to be gone")
    serve.training(number, 2, behind=job["step"], epoch=job["epoch"] + 1)


def test_a_stopped_worker_is_ended_and_replaced(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    victim = max(serve.workers(number))
    serve.cluster.client("scancel", "--signal=STOP", "--full", str(victim))
    wait_until(lambda: victim not in serve.workers(number), "the silent worker to be ended", 60)
    serve.training(number, 2, behind=job["step"])


def test_a_killed_controller_costs_no_job(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    serve.cluster.wait_for_saved_state()
    serve.cluster.kill("slurmctld")
    step = serve.job(number)["step"]
    try:
        wait_until(lambda: serve.job(number)["step"] > step + 50,
                   lambda: f"training without a controller: {serve.job(number)}\n{serve.log()[-3000:]}")
    finally:
        serve.cluster.start_controller()
    wait_until(serve.cluster.controller_answers, "the controller")
    second = serve.submit("allot max=1", "--steps", 20)
    serve.ended(second, "COMPLETED")
    assert serve.job(number)["epoch"] == job["epoch"]


def test_a_killed_script_ends_its_job(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    serve.training(number, 2)
    serve.cluster.client("scancel", "--signal=KILL", "--batch", str(number))
    serve.ended(number, "FAILED")
    wait_until(lambda: not serve.workers(number), "its workers to end")

    def ends():
        return [r["state"] for r in serve.journal() if r["what"] == "over"]
    wait_until(lambda: ends() == ["failed"], lambda: f"its end to be told: {ends()}\n{serve.log()[-3000:]}")


def test_a_node_that_dies_for_good_is_left_and_not_given(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    node = next(iter(job["nodes"]))
    serve.cluster.kill(f"slurmd-{node}")
    serve.cluster.client("scontrol", "update", f"nodename={node}", "state=down", "reason=died")  # no SlurmdTimeout
    try:
        wait_until(lambda: node not in (serve.job(number) or {"nodes": node})["nodes"], f"{node} to be left")
        serve.training(number, 2, behind=job["step"])
        seen = next(n for n in serve.status()["nodes"] if n["node"] == node)
        assert not seen["up"] and seen["held"] == 0 and serve.cluster.gpus_in_use()[node] == 0
    finally:
        serve.cluster.start_node(node)
        serve.cluster.client("scontrol", "update", f"nodename={node}", "state=resume")
    wait_until(lambda: next(n for n in serve.status()["nodes"] if n["node"] == node)["up"], f"{node} to be back")


def test_a_cancelled_job_takes_its_workers_with_it(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    serve.training(number, 2)
    serve.cluster.client("scancel", str(number), user=USER)
    wait_until(lambda: not serve.workers(number), "its workers to end")
    wait_until(lambda: not any(serve.cluster.gpus_in_use().values()), "its GPUs to be free")


def test_a_drained_node_is_left(serve):
    number = serve.submit("allot min=2 max=2", *LONG)
    job = serve.training(number, 2)
    node = next(iter(job["nodes"]))
    serve.cluster.client("scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
    try:
        wait_until(lambda: serve.cluster.gpus_in_use()[node] == 0, f"{node} to be left", 60)
        serve.training(number, 2, behind=job["step"])
    finally:
        serve.cluster.client("scontrol", "update", f"nodename={node}", "state=resume")


def test_an_added_node_is_given(serve):
    def update(state, *reason):
        serve.cluster.client("scontrol", "update", "nodename=n1,n2,n4", f"state={state}", *reason)

    def held(node):
        return next((seen["held"] for seen in serve.status()["nodes"] if seen["node"] == node), None)

    update("drain", "reason=test")
    try:
        wait_until(lambda: [seen["node"] for seen in serve.status()["nodes"] if seen["up"]] == ["n3"], "three to be down")
        counter = f'"{serve.program.parent}/examples/elastic_counter" --steps 1000000 --pace-ms 20'
        number = serve.submit("allot min=1 max=6",
                              script=f'#!/bin/bash\n"{serve.program.parent}/allot-elastic" run -- {counter}\n')
        job = serve.training(number, 4)
        assert held("n5") is None
        serve.cluster.add_node()
        try:
            serve.training(number, 6, behind=job["step"], epoch=job["epoch"] + 1)
            assert held("n5") == 2
        finally:
            serve.cluster.client("scancel", str(number))
            wait_until(lambda: not any(serve.cluster.gpus_in_use().values()), "its GPUs to be free")
            serve.cluster.remove_node()
    finally:
        update("resume")


def test_a_second_daemon_refuses(serve):
    done = subprocess.run([serve.program, "serve", "--runtime", "slurm", "--state", serve.state],
                          env=serve.cluster.environment, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "one daemon a state folder" in done.stderr
