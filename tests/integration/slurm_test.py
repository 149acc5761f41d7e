"""Jobs and workers on a real Slurm: a cluster in a folder, users' jobs, the Slurm runtime driven by hand."""

import os
import pwd
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

import cluster as slurm
from probe import Probe
from waiting import lines_of, text_of, wait_until

# As root a second user submits, as in earnest; else everything runs as one.
USER = "nobody" if os.getuid() == 0 else None


@pytest.fixture(scope="module")
def tools(program):
    """Paths of what was built: the probe, the launcher, the training program."""
    if slurm.missing():
        pytest.skip(slurm.missing())
    paths = {"probe": program.parent / "tests" / "runtime_probe", "launcher": program.parent / "allot-elastic",
             "train": program.parent / "examples" / "elastic_mlp"}
    for path in paths.values():
        if not os.access(path, os.X_OK):
            pytest.skip(f"not built: {path} (needs libslurm and libtorch)")
    return paths


@pytest.fixture(scope="module")
def cluster(tools):
    with slurm.throw_away() as one:
        yield one


@pytest.fixture
def probe(cluster, tools, tmp_path):
    one = Probe(cluster, tools, tmp_path / "state")
    yield one
    one.kill()
    cluster.clear()


@pytest.fixture
def submit(cluster, tools):
    """submit("min=1 max=4", "--steps", 500): sbatch of an elastic job, as a user; Slurm's number."""
    def run(comment, *arguments, script=None, options=()):
        folder = Path(cluster.folder.parent / f"home{len(list(cluster.folder.parent.iterdir()))}")
        folder.mkdir()
        folder.chmod(0o1777)
        text = script or (f'#!/bin/bash\n"{tools["launcher"]}" run -- "{tools["train"]}" {" ".join(map(str, arguments))}\n')
        (folder / "train.sh").write_text(text)
        done = cluster.client("sbatch", "--parsable", f"--comment={comment}", *options, "train.sh", user=USER, cwd=folder)
        run.folder = folder
        return int(done)
    return run


ENDLESS = ("--steps", 1000000, "--pace-ms", 20)


@pytest.fixture
def pair(probe, submit):
    """A job that trains on a GPU of n1 and one of n2, and its workers, rank 0 first."""
    job = probe.job(submit("allot max=4", *ENDLESS))
    workers = probe.start(job, ("n1", 1), ("n2", 1))
    probe.regroup(job, 0, workers)
    probe.trains(job)
    return job, workers


def worker_pid(cluster, node, program):
    """The training process on a node."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            command = (entry / "cmdline").read_bytes().split(b"\0")[0].decode()
        except OSError:
            continue
        if command == str(program) and f"SLURMD_NODENAME={node}".encode() in environment \
                and f"SLURM_CONF={cluster.conf}".encode() in environment:
            found.append(int(entry.name))
    return found


def losses(folder):
    """Of a job's output, in the order of its files."""
    lines = [line for path in sorted(folder.glob("slurm-*.out")) for line in lines_of(path)]
    return [float(loss[1]) for line in lines if (loss := re.search(r"loss=([0-9.]+)", line))]


# Takes longer than 10 s: each of 58 cases waits for Slurm.
def test_the_runtime_conforms(cluster, program):
    """The suite that every runtime passes (tests/unit/live/runtimes), on this cluster."""
    suite = program.parent / "tests" / "live_runtimes_test"
    done = subprocess.run([suite, "--gtest_filter=*slurm*", "--gtest_brief=1"], capture_output=True, text=True, check=False,
                          env={**cluster.environment, "ALLOT_TEST_SLURM": "1"}, timeout=900)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "PASSED" in done.stdout and "SKIPPED" not in done.stdout, done.stdout[-5000:]


def test_an_elastic_job_grows_over_unlike_nodes_and_shrinks(cluster, probe, submit):
    number = submit("allot min=1 max=4 model=resnet50", *ENDLESS)
    job = probe.job(number)
    picture = probe.look()
    assert picture["nodes"]["n4"] == {"type": "k80", "gpus": 8, "up": True}
    seen = picture["jobs"][job]
    assert (seen["state"], seen["mode"], seen["max"], seen["model"]) == ("active", "hot", 4, "resnet50")
    assert cluster.jobs()[number]["JobState"] == "PENDING"

    first, = probe.start(job, ("n3", 1))
    probe.regroup(job, 0, [first])
    probe.trains(job)
    more = probe.start(job, ("n1", 2), ("n4", 0x80))
    probe.regroup(job, 1, [first, *more])
    assert {node: used for node, used in cluster.gpus_in_use().items() if used} == {"n1": 1, "n3": 1, "n4": 1}
    probe.trains(job)

    probe.do("announce", job, 2, *more)  # rank 0 leaves
    assert not probe.until(first, "ended")["failed"]
    wait_until(lambda: cluster.gpus_in_use()["n3"] == 0, "n3's GPU to be free")
    probe.trains(job)
    wait_until(lambda: (seen := losses(submit.folder)) and min(seen) < seen[0] / 2,
               lambda: f"the loss to go on falling: {losses(submit.folder)}")
    outputs = {f"slurm-{number}.{worker.rsplit('.', 1)[1]}.out" for worker in (first, *more)}
    assert outputs < {path.name for path in submit.folder.iterdir()}, "a worker's output is named by its number"
    assert f"prints into {submit.folder}/slurm-{number}.K.out" in text_of(submit.folder / f"slurm-{number}.out")
    if USER:
        assert {path.owner() for path in (submit.folder / f".allot-{pwd.getpwnam(USER).pw_uid}" / str(number)).iterdir()} \
            == {USER}


def test_a_job_that_has_done_its_work_is_complete(cluster, probe, submit):
    number = submit("allot max=4", "--steps", 50)
    job = probe.job(number)
    workers = probe.start(job, ("n1", 1), ("n2", 1))
    probe.regroup(job, 0, workers)
    wait_until(lambda: probe.look()["jobs"][job]["state"] == "finished", lambda: f"{job} to finish: {probe.look()}")
    wait_until(lambda: probe.look() and cluster.jobs()[number]["JobState"] == "COMPLETED",
               "the user's job to be complete")
    assert probe.progress(job)["step"] == 50
    for worker in workers:
        assert not probe.until(worker, "ended")["failed"]


def test_a_killed_worker_is_seen_and_replaced(cluster, probe, pair, tools):
    job, workers = pair
    victim, = worker_pid(cluster, "n1", tools["train"])  # rank 0
    os.kill(victim, signal.SIGKILL)
    assert probe.until(workers[0], "ended")["failed"]
    step = probe.progress(job)["step"]
    new, = probe.start(job, ("n1", 1))
    probe.regroup(job, 1, [workers[1], new])
    assert probe.progress(job)["step"] >= step
    probe.trains(job)


def test_members_wait_no_longer_for_one_that_is_left_out(cluster, probe, pair, tools):
    """Such a one hangs, or it died and gloo missed it, as it does in one of 300 deaths."""
    job, workers = pair
    hanging, = worker_pid(cluster, "n1", tools["train"])  # rank 0
    os.kill(hanging, signal.SIGSTOP)
    step = probe.progress(job)["step"]
    new, = probe.start(job, ("n3", 1))
    probe.regroup(job, 1, [workers[1], new])
    assert probe.progress(job)["step"] >= step
    probe.trains(job)
    os.kill(hanging, signal.SIGKILL)


def test_a_new_daemon_finds_everything(cluster, probe, submit):
    job = probe.job(submit("allot max=4", *ENDLESS))
    workers = probe.start(job, ("n1", 1), ("n4", 4))
    probe.regroup(job, 0, workers)
    probe.kill()
    probe.open()
    for worker in workers:
        probe.until(worker, "ready")
    assert probe.look()["workers"][workers[1]] | {"node": "n4", "gpus": 4, "job": job} == \
        probe.look()["workers"][workers[1]]
    wait_until(lambda: probe.progress(job)["epoch"] == 0, "the epoch to be told")
    before = len(cluster.jobs())
    probe.do("start", job, f"{workers[1]} n4 4")  # asked for again: is there
    assert len(cluster.jobs()) == before
    probe.regroup(job, 1, workers[:1])
    probe.until(workers[1], "ended")
    probe.trains(job)


# Takes longer than 10 s: slurmctld saves its state every few seconds and takes some to find its nodes.
def test_a_controller_that_dies_costs_nothing(cluster, probe, submit):
    job = probe.job(submit("allot max=4", *ENDLESS))
    workers = probe.start(job, ("n1", 1))
    probe.regroup(job, 0, workers)
    cluster.wait_for_saved_state()
    cluster.kill("slurmctld")
    refused = probe.ask("look")
    assert not refused["ok"] and "the controller must answer within 2" in refused["why"]
    assert not probe.ask("start", job, f"{job}.9 n2 1")["ok"]
    probe.trains(job)  # nobody there but the daemon, and that goes on
    cluster.start_controller()
    wait_until(lambda: probe.ask("look")["ok"], "the controller to answer")
    probe.until(workers[0], "ready")
    new = probe.start(job, ("n2", 1))
    probe.regroup(job, 1, workers + new)


def test_a_slurmd_that_dies_and_comes_back_costs_nothing(cluster, probe, pair):
    job, workers = pair
    cluster.kill("slurmd-n2")
    probe.trains(job)
    cluster.start_node("n2")
    probe.trains(job)
    assert probe.look()["workers"][workers[1]]["state"] == "ready"


def test_a_stopped_job_goes_on_from_its_checkpoint(cluster, probe, pair):
    job, workers = pair
    for worker in workers:
        probe.do("stop", worker, "save")
    for worker in workers:
        assert not probe.until(worker, "ended")["failed"]
    saved = probe.progress(job)["saved_work"]
    assert saved > 0
    wait_until(lambda: not any(cluster.gpus_in_use().values()), "its GPUs to be free")
    assert probe.look()["jobs"][job]["state"] == "active"
    new = probe.start(job, ("n3", 1))
    probe.regroup(job, 1, new)
    probe.trains(job)
    assert probe.progress(job)["work"] > saved


def test_a_rigid_job_is_placed_requeued_and_placed_again(cluster, probe, submit):
    script = '#!/bin/bash\necho "gpus $CUDA_VISIBLE_DEVICES on $SLURMD_NODENAME" >>log\ntrap "exit 1" TERM\n' \
             'if [ "$SLURM_RESTART_COUNT" = 1 ]; then exit 0; fi\nsleep 600 & wait\n'
    number = submit("allot min=2 max=4 resize=restart", script=script, options=("--gres=gpu:2",))
    job = probe.job(number)
    assert probe.look()["jobs"][job]["requested"] == 2
    first, = probe.start(job, ("n1", 3))
    probe.until(first, "ready")
    wait_until(lambda: lines_of(submit.folder / "log"), "its script to run")
    probe.do("stop", first, "save")
    wait_until(lambda: first not in probe.look()["workers"], "the job to have been requeued")
    assert cluster.jobs()[number]["Partition"] == "elastic"
    assert probe.look()["jobs"][job]["state"] == "active"
    wait_until(lambda: probe.ask("start", job, f"{job}.7 n4 f0")["ok"] or probe.look() and False, "it to be placed again")
    wait_until(lambda: probe.look()["jobs"][job]["state"] == "finished", lambda: f"{job}: {probe.look()}")
    assert lines_of(submit.folder / "log") == ["gpus 0,1 on n1", "gpus 0,1,2,3 on n4"]
    assert cluster.jobs()[number]["JobState"] == "COMPLETED"


def test_a_job_that_took_long_to_end_is_placed_at_once(cluster, probe, submit):
    """slurmd refuses a job in the second in which it was told to end it, and not in that in which it ended."""
    script = '#!/bin/bash\nif [ "$SLURM_RESTART_COUNT" = 1 ]; then exit 0; fi\n' \
             'trap "until [ -e may-end ]; do sleep 0.05; done; exit 1" TERM\necho on >>log\nsleep 600 & wait\n'
    job = probe.job(submit("allot min=1 max=4 resize=restart", script=script, options=("--gres=gpu:1",)))
    first, = probe.start(job, ("n1", 1))
    probe.until(first, "ready")
    wait_until(lambda: lines_of(submit.folder / "log"), "its script to run")
    probe.do("stop", first, "save")
    time.sleep(3)  # counted from the answer to the requeue, which may take a while to come
    (submit.folder / "may-end").touch()
    wait_until(lambda: first not in probe.look()["workers"], "the job to have been requeued")
    probe.do("start", job, f"{job}.7 n4 1")
    wait_until(lambda: probe.look()["jobs"][job]["state"] == "finished", lambda: f"{job}: {probe.look()}")


def test_a_job_that_was_to_be_requeued_still_is(cluster, probe, submit):
    """A daemon that ends between the two calls has written down what it did not come to do."""
    number = submit("allot min=1 max=4 resize=restart", script="#!/bin/bash\nsleep 600\n", options=("--gres=gpu:1",))
    job = probe.job(number)
    worker, = probe.start(job, ("n1", 1))
    probe.until(worker, "ready")
    cluster.client("scontrol", "update", f"jobid={number}", f"admincomment=allot job={job} stopping=1 shares={worker}@n1:1")
    probe.look()
    probe.do("stop", worker, "save")
    wait_until(lambda: worker not in probe.look()["workers"], "the job to have been requeued")
    assert cluster.jobs()[number]["Partition"] == "elastic"


def test_a_job_that_comes_to_its_end_once_does_so_once(cluster, probe, submit, tools):
    """Its node does not hear of the requeue before its program has ended: Slurm runs the script again all the same."""
    script = f'#!/bin/bash\nexec "{tools["launcher"]}" once -- ' \
             'sh -c "echo begin >>log; until [ -e may-end ]; do sleep 0.05; done; echo end >>log"\n'
    number = submit("allot min=1 max=4 resize=restart", script=script, options=("--gres=gpu:1",))
    job, log = probe.job(number), submit.folder / "log"
    worker, = probe.start(job, ("n1", 1))
    probe.until(worker, "ready")
    wait_until(lambda: lines_of(log), "its program to run")
    cluster.kill("slurmd-n1")
    probe.do("stop", worker, "save")
    (submit.folder / "may-end").touch()
    wait_until(lambda: list(submit.folder.glob(f".allot-*/{number}/finished")), "its end to be written down")
    cluster.start_node("n1")
    wait_until(lambda: worker not in probe.look()["workers"], "the job to have been requeued")
    assert probe.look()["jobs"][job]["state"] == "active"
    wait_until(lambda: probe.ask("start", job, f"{job}.7 n4 1")["ok"] or probe.look() and False, "it to be placed again")
    wait_until(lambda: probe.look()["jobs"][job]["state"] == "finished", lambda: f"{job}: {probe.look()}")
    assert lines_of(log) == ["begin", "end"]
    assert "completed at an earlier start" in text_of(submit.folder / f"slurm-{number}.out")


# Takes longer than 10 s: torchrun starts PyTorch twice, each time after a rendezvous.
@pytest.mark.skipif(subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode != 0,
                    reason="needs Debian's python3-torch")
def test_an_unmodified_torchrun_job_goes_on_at_another_size(cluster, probe, submit):
    """All GPUs that it holds train, also those of its second node."""
    examples = Path(__file__).resolve().parents[2] / "examples"
    # Debian's torchrun 1.13 stumbles over the default of --redirects and --tee on Python 3.11.
    script = f'#!/bin/bash\nexport OMP_NUM_THREADS=1\n. "{examples}/frameworks/train.sh" --redirects=1 --tee=1 ' \
             f'"{examples}/torchrun.py" --steps 400 --pace-ms 20 >>log 2>&1\n'
    number = submit("allot min=1 max=4 resize=restart", script=script, options=("--gres=gpu:1",))
    job = probe.job(number)
    workers = probe.start(job, ("n1", 1), ("n2", 1))
    probe.until(workers[0], "ready")
    log = submit.folder / "log"
    wait_until(lambda: "step=20" in text_of(log), lambda: f"training: {text_of(log)}")
    probe.do("stop", workers[0], "save")
    wait_until(lambda: not set(workers) & set(probe.look()["workers"]), "the job to have been requeued")
    wait_until(lambda: probe.ask("start", job, f"{job}.7 n4 7")["ok"] or probe.look() and False, "it to be placed again")
    wait_until(lambda: probe.look()["jobs"][job]["state"] == "finished", lambda: f"{job}: {text_of(log)}")
    (two, from_start), (three, later) = re.findall(r"world=(\d) step=(\d+)", text_of(log))
    assert (two, from_start, three) == ("2", "0", "3")
    assert int(later) >= 20  # from the checkpoint of its end
    assert "finished step=400" in text_of(log)


def test_what_cannot_be_placed_is_held_and_its_user_told(cluster, probe, submit):
    number = submit("allot min=1 max=4 modle=x", *ENDLESS)
    job = probe.job(number)
    seen = probe.look()["jobs"][job]
    assert seen["state"] == "held" and "unknown key 'modle' (did you mean 'model'?)" in seen["reason"]
    said = "allot does not place this job: comment: unknown key 'modle'"
    wait_until(lambda: probe.look() and said in cluster.client("scontrol", "show", "job", str(number), user=USER),
               "its user to be told")


def test_a_job_that_calls_itself_a_worker_is_none(cluster, probe, pair, submit):
    job, workers = pair
    forged = f"elastic-of:{job.split('-')[0]} job={job} worker={workers[1]} gpus=1"
    options = ("--wrap=sleep 600", "--partition=main", "--gres=gpu:1", f"--comment={forged}")
    if USER:
        with pytest.raises(slurm.ClusterError, match="elastic-of: is allot's"):
            cluster.client("sbatch", *options, user=USER, cwd=submit.folder)
    cluster.client("sbatch", *options, cwd=submit.folder)  # as one who may: the plugin is not asked
    wait_until(lambda: cluster.gpus_in_use()["n1"] + cluster.gpus_in_use()["n3"] > 1 or sum(cluster.gpus_in_use().values()) > 2,
               "it to run")
    seen = {name: worker["node"] for name, worker in probe.look()["workers"].items() if worker["job"] == job}
    assert seen == {workers[0]: "n1", workers[1]: "n2"}
    probe.trains(job)


@pytest.mark.parametrize("form", ["--gpus=4", "--gpus-per-task=2", "--gpus-per-socket=2", "--exclusive", "--exclusive=user"])
def test_gpus_beside_those_of_allot_are_refused(cluster, probe, form):
    """By the plugin at once; where it is not asked, the job is held and its user told."""
    options = (form, "--ntasks=2", "--sockets-per-node=1") if "per" in form else (form,)
    if USER:
        with pytest.raises(slurm.ClusterError, match="allot"):
            cluster.client("sbatch", *options, "--comment=allot min=1 max=2", "--wrap=sleep 60", user=USER, cwd=cluster.folder.parent)
    asked = cluster.client("sbatch", "--parsable", "--partition=elastic", *options, "--comment=allot min=1 max=2",
                           "--wrap=sleep 60", cwd=cluster.folder.parent)
    job = probe.job(int(asked))
    seen = probe.look()["jobs"][job]
    assert seen["state"] == "held", seen
    assert form.split("=")[0] in seen["reason"]
    cluster.client("scancel", asked.strip())


@pytest.mark.skipif(USER is None, reason="needs root, for a user who is not the daemon's")
def test_users_cannot_place_or_resize_jobs(cluster, probe, submit):
    number = submit("allot max=4", *ENDLESS, options=("--partition=main",))
    assert cluster.jobs()[number]["Partition"] == "elastic"
    for change in ("partition=main", "nodelist=n1", "gres=gpu:2", "admincomment=allot", "priority=100"):
        with pytest.raises(slurm.ClusterError):
            cluster.client("scontrol", "update", f"jobid={number}", change, user=USER)
    job = probe.job(number)
    probe.start(job, ("n1", 1))
    wait_until(lambda: cluster.jobs()[number]["JobState"] == "RUNNING", lambda: f"the job to run: {cluster.jobs()[number]}")
    with pytest.raises(slurm.ClusterError):  # or it could pass for somebody's worker
        cluster.client("scontrol", "update", f"jobid={number}", "comment=elastic-of:1 job=x worker=y gpus=1", user=USER)
    with pytest.raises(slurm.ClusterError):
        cluster.client("sbatch", "--nodelist=n1", "--wrap=true", user=USER, cwd=submit.folder)
