"""Real workers train, come, go and die; a daemon of the tests' own tells them the epochs."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from daemon import Daemon, FalseDaemon
from pythons import python_with_torch
from waiting import text_of, wait_until


@pytest.fixture(params=["elastic_mlp"])
def example(program, root, request):
    """Command and environment of a training program."""
    path = program.parent / "examples" / request.param
    if request.param.endswith(".py"):
        path = program.parent / "liballot_elastic.so"
        python = python_with_torch() if "torch" in request.param else sys.executable
        command = [python, root / "examples" / request.param]
    else:
        command = [path]
    if not path.exists():
        pytest.skip(f"not built: {path} (needs libtorch)")
    return command, {"PYTHONPATH": str(root / "python"), "ALLOT_ELASTIC_LIBRARY": str(path)}


@pytest.fixture
def daemon(example, tmp_path):
    with Daemon(tmp_path, *example) as one:
        yield one


ENDLESS = ("--steps", 1000000, "--pace-ms", 3)


def losses(output):
    return [float(loss) for loss in re.findall(r"loss=([0-9.]+) ", output)]


def falls(daemon, first, last):
    """The loss goes on falling, from what the first of these workers began with to what the last is at."""
    def at():
        return losses(daemon.output(first))[:1], losses(daemon.output(last))[-1:]
    wait_until(lambda: (begin := at()[0]) and (end := at()[1]) and end[0] < begin[0] / 2, lambda: f"the loss to fall: {at()}")


def trains_on(daemon, worker):
    step = daemon.step(worker)
    wait_until(lambda: daemon.step(worker) > step + 5, f"{worker} to train on behind step {step}")


@pytest.mark.parametrize("example", ["elastic_mlp", "mlp.py"], indirect=True)
def test_grows_and_shrinks_with_state_and_step_kept(daemon):
    daemon.start("w0", "w1", "w2", arguments=ENDLESS)
    daemon.regroup("w0")
    wait_until(lambda: daemon.step("w0") > 30, "the first worker to train")
    daemon.regroup("w0", "w1", "w2")
    trains_on(daemon, "w2")
    daemon.regroup("w2", "w1")  # rank 0 leaves, the others stay
    trains_on(daemon, "w2")
    assert daemon.processes["w0"].wait(timeout=120) == 0
    assert daemon.lowest_steps == sorted(daemon.lowest_steps)
    assert daemon.lowest_steps[1] > 30
    falls(daemon, "w0", "w2")


@pytest.mark.parametrize("example", ["elastic_mlp", "elastic_cnn", "mlp.py"], indirect=True)
def test_finishes_and_the_loss_fell(daemon):
    daemon.start("w0", "w1", arguments=("--steps", 150, "--rate", 0.05))
    daemon.announce("w0", "w1")
    for worker in ("w0", "w1"):
        assert daemon.processes[worker].wait(timeout=120) == 0, daemon.output(worker)
        assert daemon.heard(worker, "finished")["step"] == 150
    assert daemon.heard("w0", "finished")["work"] == 150 * 64
    seen = losses(daemon.output("w0"))
    assert seen[-1] < 0.6 * seen[0]
    assert (daemon.folder / "finished").read_text() == "150\n"


def test_a_worker_that_dies_before_it_is_acknowledged_has_ended_the_script(daemon):
    daemon.acknowledges = False
    daemon.start("w0", arguments=("--steps", 20))
    daemon.announce("w0")
    wait_until(lambda: daemon.heard("w0", "finished"), "the work to be done")
    daemon.processes["w0"].kill()
    assert (daemon.folder / "finished").read_text() == "20\n"


@pytest.mark.parametrize("victim", ["w0", "w2"])
def test_a_killed_worker_costs_no_step(daemon, victim):
    daemon.start("w0", "w1", "w2", arguments=ENDLESS)
    daemon.regroup("w0", "w1", "w2")
    wait_until(lambda: daemon.step("w1") > 20, "training")
    os.kill(daemon.processes[victim].pid, signal.SIGKILL)
    left = [worker for worker in ("w0", "w1", "w2") if worker != victim]
    for worker in left:
        wait_until(lambda: daemon.heard(worker, "broken").get("epoch") == 0, f"{worker} to miss {victim}")
    daemon.regroup(*left)
    assert daemon.lowest_steps[-1] >= 20
    trains_on(daemon, left[0])


def test_all_killed_go_on_from_the_checkpoint(daemon):
    daemon.start("w0", "w1", arguments=ENDLESS)
    daemon.regroup("w0", "w1")
    wait_until(lambda: daemon.step("w0") > 20, "training")
    daemon.tell("w1", "save")  # any member may be asked; rank 0 writes
    saved = wait_until(lambda: daemon.heard("w0", "saved"), "a checkpoint")
    for worker in ("w0", "w1"):
        os.kill(daemon.processes[worker].pid, signal.SIGKILL)
    daemon.start("w2", arguments=ENDLESS)
    daemon.regroup("w2")
    assert daemon.lowest_steps[-1] >= saved["step"]
    wait_until(lambda: daemon.heard("w2", "progress").get("work", 0) > saved["work"], "the work to count on")


@pytest.mark.parametrize("example", ["elastic_mlp", "mlp_torch.py"], indirect=True)
@pytest.mark.parametrize("order", ["stop", "SIGTERM"])
def test_stopped_workers_save_and_end_well(daemon, order):
    daemon.start("w0", "w1", arguments=ENDLESS)
    daemon.regroup("w0", "w1")
    wait_until(lambda: daemon.step("w0") > 10, "training")
    for worker in ("w1", "w0"):
        if order == "stop":
            daemon.tell(worker, "stop")
        else:
            os.kill(daemon.processes[worker].pid, signal.SIGTERM)
    for worker in ("w0", "w1"):
        assert daemon.processes[worker].wait(timeout=120) == 0, daemon.output(worker)
    assert wait_until(lambda: daemon.heard("w0", "saved"), "its checkpoint to be told")["step"] > 10
    assert (daemon.folder / "checkpoint").exists()


def test_trains_on_without_a_daemon_and_joins_the_next(daemon):
    daemon.start("w0", "w1", arguments=ENDLESS)
    daemon.regroup("w0", "w1")
    wait_until(lambda: daemon.step("w0") > 10, "training")
    daemon.vanish()
    seen = len(losses(daemon.output("w0")))
    wait_until(lambda: len(losses(daemon.output("w0"))) > seen + 3, "training without a daemon")
    daemon.said.clear()
    daemon.listen()
    join = wait_until(lambda: daemon.heard("w0", "join"), "w0 to come back")
    assert join["epoch"] == join["heard"] == 0
    daemon.regroup("w0")
    trains_on(daemon, "w0")


def test_a_newcomer_costs_nobody_memory_for_a_second_state(daemon):
    """Rank 0 sends it out of the program's own memory; who stays keeps its own."""
    arguments, mb = (*ENDLESS, "--more-state-mb", 128), 128

    def memory(worker, what):
        return int(re.search(rf"{what}:\s+(\d+)", Path(f"/proc/{daemon.processes[worker].pid}/status").read_text())[1]) / 1024
    daemon.start("w0", "w1", arguments=arguments)
    daemon.regroup("w0", "w1")
    trains_on(daemon, "w1")
    before = {}
    for worker in ("w0", "w1"):
        Path(f"/proc/{daemon.processes[worker].pid}/clear_refs").write_text("5")  # the most that it has had counts anew
        before[worker] = memory(worker, "VmRSS")
    daemon.start("w2", arguments=arguments)
    daemon.regroup("w0", "w1", "w2")
    trains_on(daemon, "w2")
    for worker in ("w0", "w1"):
        assert memory(worker, "VmHWM") - before[worker] < mb / 4


def listening(pid):
    """Addresses on which a process listens."""
    sockets = {os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()}
    found = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
            host, port = fields[1].split(":")
            found.add((".".join(str(byte) for byte in reversed(bytes.fromhex(host))), int(port, 16)))
    return found


@pytest.mark.parametrize("said", [b"", b"\xff" * 4096], ids=["silent", "garbage"])
def test_who_takes_the_place_of_a_peer_is_found_out(daemon, said):
    """Whoever connects first to a port of gloo's is the peer to it: here before the true one, which is stopped."""
    daemon.start("w0", "w1", arguments=ENDLESS)
    daemon.regroup("w0")
    daemon.joined("w1")
    known = listening(daemon.processes["w0"].pid)
    assert {host for host, _ in known} == {"127.0.0.1"}
    trains_on(daemon, "w0")
    os.kill(daemon.processes["w1"].pid, signal.SIGSTOP)
    daemon.announce("w0", "w1")
    address = next(iter(wait_until(lambda: listening(daemon.processes["w0"].pid) - known, "w0 to wait for its peer")))
    with socket.create_connection(address, timeout=60) as thief:
        thief.sendall(said)
        os.kill(daemon.processes["w1"].pid, signal.SIGCONT)
        # Of each pair one end connects to the other: where that is w0, gloo itself drops who came to it.
        wait_until(lambda: any(daemon.heard(worker, "broken").get("epoch") == 1 for worker in ("w0", "w1"))
                   or daemon.heard("w0", "reached").get("epoch") == 1 or daemon.processes["w0"].poll() is not None,
                   lambda: f"the epoch to break or to form without the thief: {daemon.said}")
        assert daemon.processes["w0"].poll() is None, daemon.output("w0")
        step = daemon.step("w0")
        daemon.regroup("w0", "w1")
        trains_on(daemon, "w1")
        assert daemon.lowest_steps[-1] >= step
        assert listening(daemon.processes["w0"].pid) == known, "a pair that is connected has no port any more"
        thief.settimeout(60)
        try:
            heard = thief.recv(1 << 20)
        except ConnectionResetError:
            heard = b""
    assert len(heard) < 256, "nothing of the training is said to who is nobody"


def test_a_joiner_that_dies_holds_nobody_up(daemon):
    daemon.start("w0", "w1", "w2", arguments=ENDLESS)
    daemon.regroup("w0")
    daemon.joined("w1", "w2")
    os.kill(daemon.processes["w2"].pid, signal.SIGKILL)
    daemon.announce("w0", "w1", "w2")
    daemon.announce("w0", "w1")  # overtakes the epoch that never formed
    daemon.reached(2)
    trains_on(daemon, "w0")


def two_heartbeats(daemon, *workers):
    """Waits until each has said two more: what it had begun to do a moment ago is done, or waits for others."""
    for _ in range(2):
        for worker in workers:
            last = daemon.heard(worker, "progress")
            wait_until(lambda: (now := daemon.heard(worker, "progress")) and now is not last, f"{worker} to say how it is")


def test_a_peer_that_dies_while_others_connect_to_it_holds_nobody_up(daemon):
    """It has said where it is reached. Of each pair gloo chooses who connects: who is to be connected to waits for ever.
    With four that come after it, there is one nearly always."""
    others = ["late", "w1", "w2", "w3"]
    daemon.start("w0", "dies", *others, arguments=ENDLESS)
    daemon.regroup("w0")
    daemon.announce("w0", "dies", *others, late=("late",))
    two_heartbeats(daemon, "w0", "dies")
    os.kill(daemon.processes["dies"].pid, signal.SIGKILL)
    daemon.tell_epoch("late")  # on which all others waited
    two_heartbeats(daemon, *others)
    daemon.regroup("w0", *others)
    trains_on(daemon, "w0")


def test_noise_scale_and_rate_are_reported(daemon):
    daemon.start("w0", "w1", arguments=ENDLESS)
    daemon.regroup("w0", "w1")
    said = wait_until(lambda: "noise" in (p := daemon.heard("w0", "progress")) and "rate" in p and p, "a noise scale")
    assert said["noise"] > 0 and said["rate"] > 0 and said["total"] == 64e6


ADAPTS = ("--steps", 1000000, "--pace-ms", 3, "--batch", 32, "--most-batch", 1024, "--most-local", 128)


def batch_of(daemon, worker="w0"):
    return daemon.heard(worker, "progress").get("batch", {})


@pytest.mark.parametrize("example", ["elastic_mlp", "mlp.py", "mlp_torch.py"], indirect=True)
def test_the_batch_is_what_the_daemon_says_and_its_total_stays_where_it_does_not(daemon):
    daemon.start("w0", "w1", arguments=ADAPTS)
    daemon.regroup("w0")
    wait_until(lambda: batch_of(daemon), "a batch")
    assert {key: batch_of(daemon)[key] for key in ("initial", "most", "most_local", "workers", "local")} == {
        "initial": 32, "most": 1024, "most_local": 128, "workers": 1, "local": 32}
    daemon.regroup("w0", "w1")  # nobody says what to do: the total stays
    wait_until(lambda: (batch_of(daemon).get("workers"), batch_of(daemon).get("local")) == (2, 16), "shares of 32")
    for choice in ({"workers": 2, "local": 129, "accumulation": 0}, {"workers": 3, "local": 64, "accumulation": 0},
                   {"workers": 2, "local": -1, "accumulation": 0}, {"workers": 2, "local": "x", "accumulation": 0}):
        daemon.tell("w0", "batch", **choice)
    trains_on(daemon, "w1")
    assert batch_of(daemon)["local"] == 16, "what cannot be done is not done"
    for worker in ("w0", "w1"):
        daemon.tell(worker, "batch", workers=2, local=100, accumulation=1)
    wait_until(lambda: (batch_of(daemon)["local"], batch_of(daemon)["accumulation"]) == (100, 1), "the choice")
    trains_on(daemon, "w1")
    daemon.regroup("w1")  # rank 0 leaves: who stays has the batch
    wait_until(lambda: batch_of(daemon, "w1").get("workers") == 1, "the last worker alone")
    last = batch_of(daemon, "w1")
    assert last["local"] * (last["accumulation"] + 1) == 400


def test_steps_and_noise_are_measured_with_any_number_of_workers(daemon):
    daemon.start("w0", "w1", arguments=ADAPTS)
    daemon.regroup("w0")
    for workers, local in ((1, 32), (2, 16)):
        timed = wait_until(lambda: (t := batch_of(daemon).get("timed", {})).get("workers") == workers and t,
                           f"times on {workers}")
        assert timed["local"] == local and timed["iteration"] >= timed["gradient"] >= 0.003
        wait_until(lambda: daemon.heard("w0", "progress").get("noise", 0) > 0, f"a noise scale on {workers}")
        if workers == 1:
            daemon.regroup("w0", "w1")


def test_work_counts_what_a_batch_is_worth(daemon):
    daemon.start("w0", arguments=("--steps", 100, "--batch", 32, "--most-batch", 1024, "--most-local", 1024))
    daemon.joined("w0")
    daemon.tell("w0", "batch", workers=1, local=1024, accumulation=0)  # it would be done soon after its epoch
    daemon.announce("w0")
    assert daemon.processes["w0"].wait(timeout=120) == 0, daemon.output("w0")
    done = daemon.heard("w0", "finished")
    assert done["step"] < 100 and done["work"] >= 3200


@pytest.mark.parametrize("example", ["mlp_torch.py"], indirect=True)
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_pytorch_hands_model_and_optimizer_on_and_learns(daemon, optimizer):
    daemon.start("w0", "w1", arguments=(*ENDLESS, "--optimizer", optimizer, "--rate", 0.01))
    daemon.regroup("w0")
    wait_until(lambda: daemon.step("w0") > 50, "the first worker to train")
    daemon.regroup("w0", "w1")
    trains_on(daemon, "w1")
    daemon.regroup("w1")  # who has the state leaves
    wait_until(lambda: daemon.step("w1") > 200, "the second one alone")
    assert daemon.processes["w0"].wait(timeout=120) == 0, daemon.output("w0")
    falls(daemon, "w0", "w1")
    assert daemon.lowest_steps == sorted(daemon.lowest_steps) and daemon.lowest_steps[1] > 50


def test_a_profile_of_its_own_can_be_simulated(example, program, tmp_path):
    command, environment = example
    apps = tmp_path / "apps"
    for batch, workers in ((32, ("w0",)), (128, ("w0", "w1"))):
        run = tmp_path / str(batch)
        run.mkdir()
        asked = {**environment, "ALLOT_PROFILE": str(apps / "mlp"), "ALLOT_PROFILE_EPOCHS": "4",
                 "ALLOT_PROFILE_BATCH": str(batch), "ALLOT_NODE": "n1"}
        with Daemon(run, command, asked) as daemon:
            daemon.start(*workers, arguments=("--steps", 400, "--batch", 32, "--most-batch", 128, "--most-local", 64))
            daemon.announce(*workers)
            for worker in workers:
                assert daemon.processes[worker].wait(timeout=120) == 0, daemon.output(worker)
    placements = (apps / "mlp" / "placements.csv").read_text().splitlines()
    assert [row.split(",")[:3] for row in placements[1:]] == [["1", "32", "gpu"], ["2", "64", "gpu"]]
    assert len((apps / "mlp" / "validation.csv").read_text().splitlines()) == 1 + 2 * 4
    # Two more runs would have measured these.
    (apps / "parameters.csv").write_text((apps / "parameters.csv").read_text().replace("128,1,64", "128,32,64"))
    for placement, local in ((1, 64), (2, 32)):
        with (apps / "mlp" / "placements.csv").open("a") as file:
            file.write(f"{placement},{local},gpu,0.01,0.001\n")
    (tmp_path / "jobs.csv").write_text("name,time,application,num_replicas,batch_size\nmlp-0,0,mlp,1,32\nmlp-1,60,mlp,1,32\n")
    done = subprocess.run([program, "simulate", "--json", "--workload", tmp_path / "jobs.csv", "--format",
                           "pollux-training", "--catalogue", apps, "--profile", "pollux", "--cluster", "1x2", "--policy",
                           "index"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["avg_jct_s"] > 0


def test_a_loss_that_is_reached_ends_all_workers(daemon):
    daemon.start("w0", "w1", arguments=("--steps", 100000, "--rate", 0.05, "--until-loss", 0.1))
    daemon.announce("w0", "w1")
    for worker in ("w0", "w1"):
        assert daemon.processes[worker].wait(timeout=120) == 0, daemon.output(worker)
    assert daemon.heard("w0", "finished")["step"] == daemon.heard("w1", "finished")["step"] < 100000


def test_who_takes_the_port_of_a_dead_daemon_learns_nothing_and_stops_nobody(daemon):
    daemon.start("w0", "w1", arguments=ENDLESS)
    daemon.regroup("w0", "w1")
    daemon.vanish()
    with FalseDaemon(daemon.port) as thief:
        wait_until(lambda: all(len(thief.heard_of(worker)) >= 6 for worker in ("w0", "w1")),
                   lambda: f"both workers to try again and again: {thief.heard}")
        seen = len(losses(daemon.output("w0")))
        wait_until(lambda: len(losses(daemon.output("w0"))) > seen, "training on")
        heard = list(thief.heard)
    assert {message["say"] for message in heard} == {"hello"} and daemon.token not in str(heard)
    assert len({message["nonce"] for message in heard}) == len(heard), "each connection has a nonce of its own"
    daemon.said.clear()
    daemon.listen()
    for worker in ("w0", "w1"):
        assert wait_until(lambda: daemon.heard(worker, "join"), f"{worker} to find the true daemon")["epoch"] == 0
        assert daemon.output(worker).count("does not prove that it knows the job's token") == 1, daemon.output(worker)
        assert daemon.token not in daemon.output(worker)
    trains_on(daemon, "w0")


def test_outside_of_a_job_the_missing_variable_is_named(example):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ALLOT_")}
    done = subprocess.run(example[0], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "ALLOT_JOB_ID" in done.stderr


@pytest.fixture
def worker(program, tmp_path):
    """worker(): allot-elastic worker of job 7 in tmp_path, as user `uid`; an order is in its folder."""
    launcher = program.parent / "allot-elastic"
    if not launcher.exists():
        pytest.skip(f"not built: {launcher}")
    folder = tmp_path / ".allot-x" / "7"
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o700)

    def run(order=None):
        name = f"7-{int(time.time()):x}"
        order = order or {"id": "7", "command": ["sh", "-c", "echo it ran"], "environment": {}, "folder": "/",
                          "written": time.time()}
        (folder / "command.json").unlink(missing_ok=True)
        (folder / "command.json").write_text(json.dumps(order))
        (folder / "command.json").chmod(0o600)

        def start():
            return subprocess.run([launcher, "worker", "--timeout", "1"], capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "ALLOT_RUN_DIR": str(folder), "ALLOT_JOB_ID": name})
        run.folder, run.start = folder, start
        return start
    return run


def test_a_worker_runs_the_order_of_its_user(worker):
    done = worker()()
    assert (done.returncode, done.stdout) == (0, "it ran\n"), done.stderr


def test_a_worker_runs_no_order_of_another_job(worker):
    done = worker(order={"id": "8", "command": ["true"], "environment": {}, "folder": "/", "written": time.time()})()
    assert done.returncode == 1 and "must call 'allot-elastic run'" in done.stderr


def test_a_job_that_was_submitted_inside_a_task_of_an_array_is_itself(program, tmp_path):
    """sbatch hands on the variables of its caller; slurmd replaces those alone that the job has, too."""
    launcher = program.parent / "allot-elastic"
    if not launcher.exists():
        pytest.skip(f"not built: {launcher}")
    inherited = {"SLURM_ARRAY_JOB_ID": "10", "SLURM_ARRAY_TASK_ID": "3"}
    script = subprocess.Popen([launcher, "run", "--", "echo", "it ran"], cwd=tmp_path,
                              env={**os.environ, **inherited, "SLURM_JOB_ID": "57", "SLURM_SUBMIT_DIR": str(tmp_path)})
    folder = tmp_path / f".allot-{os.getuid()}" / "57"
    try:
        wait_until(lambda: (folder / "command.json").exists(), "the order")
        done = subprocess.run([launcher, "worker", "--timeout", "1"], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "ALLOT_RUN_DIR": str(folder), "ALLOT_JOB_ID": f"57-{int(time.time()):x}"})
    finally:
        script.kill()
        script.wait()
    assert (done.returncode, done.stdout) == (0, "it ran\n"), done.stderr


@pytest.mark.parametrize("part", ["", ".", "command.json"])
def test_a_worker_runs_no_order_that_others_can_write(worker, part):
    start = worker()
    folder = worker.folder
    (folder.parent if not part else folder / part).chmod(0o777 if part != "command.json" else 0o666)
    done = start()
    assert done.returncode == 1 and "writable by nobody else" in done.stderr and not done.stdout


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, for files of another user")
@pytest.mark.parametrize("part", ["", ".", "command.json"])
def test_a_worker_runs_no_order_of_another_user(worker, part):
    start = worker()
    os.chown(worker.folder.parent if not part else worker.folder / part, 65534, 65534)
    done = start()
    assert done.returncode == 1 and "of user 65534" in done.stderr and not done.stdout


def test_a_worker_follows_no_link_to_an_order(worker, tmp_path):
    start = worker()
    (worker.folder / "command.json").rename(tmp_path / "elsewhere")
    (worker.folder / "command.json").symlink_to(tmp_path / "elsewhere")
    done = start()
    assert done.returncode == 1 and "cannot open" in done.stderr and not done.stdout


def test_folders_arguments_and_variables_need_not_be_utf8(program, tmp_path):
    launcher = program.parent / "allot-elastic"
    if not launcher.exists():
        pytest.skip(f"not built: {launcher}")
    home = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(home)
    variables = {**os.environb, b"SLURM_JOB_ID": b"7", b"SLURM_SUBMIT_DIR": home, b"PLACE": b"\xff"}
    run = subprocess.Popen([launcher, "run", "--", "sh", "-c", 'pwd; printf "%s %s" "$PLACE" "$1"', "sh", b"\xfe"], cwd=home,
                           env=variables)
    folder = home + b"/.allot-%d/7" % os.getuid()
    try:
        wait_until(lambda: os.path.exists(folder + b"/command.json"), "the order")
        done = subprocess.run([launcher, "worker"], capture_output=True, timeout=120,
                              env={**os.environb, b"ALLOT_RUN_DIR": folder, b"ALLOT_JOB_ID": b"7-0"})
    finally:
        run.kill()
        run.wait()
    assert (done.returncode, done.stdout) == (0, home + b"\n\xff \xfe"), done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, for two users")
def test_two_users_may_submit_in_one_folder(program, tmp_path):
    launcher = program.parent / "allot-elastic"
    if not launcher.exists():
        pytest.skip(f"not built: {launcher}")
    with tempfile.TemporaryDirectory() as name:
        shared = Path(name)
        shared.chmod(0o1777)
        for job, uid in (("7", 65534), ("8", 0)):
            done = subprocess.Popen([launcher, "run", "--", "true"], cwd=shared, user=uid,
                                    env={**os.environ, "SLURM_JOB_ID": job, "SLURM_SUBMIT_DIR": str(shared)})
            try:
                order = shared / f".allot-{uid}" / job / "command.json"
                wait_until(order.exists, "the order")
                assert order.stat().st_uid == uid and order.stat().st_mode & 0o077 == 0
            finally:
                done.kill()
                done.wait()


def test_workers_hear_what_the_script_says_of_the_library_and_nothing_of_its_place(program, tmp_path):
    launcher = program.parent / "allot-elastic"
    if not launcher.exists():
        pytest.skip(f"not built: {launcher}")
    said = {"ALLOT_ELASTIC_LIBRARY": "/opt/allot/liballot_elastic.so", "ALLOT_PROFILE": "profiles/mine", "CONDA_PREFIX": "/opt/conda"}
    place = {"ALLOT_TOKEN": "guessed", "SLURM_JOB_ID": "7", "SLURM_SUBMIT_DIR": str(tmp_path), "CUDA_VISIBLE_DEVICES": "3"}
    script = subprocess.Popen([launcher, "run", "--", "true"], cwd=tmp_path, env={**os.environ, **said, **place})
    try:
        order = tmp_path / f".allot-{os.getuid()}" / "7" / "command.json"
        environment = json.loads(wait_until(lambda: text_of(order), "the order"))["environment"]
    finally:
        script.kill()
        script.wait()
    assert said.items() <= environment.items()
    assert not place.keys() & environment.keys()


@pytest.fixture
def once(program, tmp_path):
    """once(SCRIPT): sh runs it in the script of job 7, as at a restart by Slurm; restart=False: as at the job's first start."""
    launcher = program.parent / "allot-elastic"
    if not launcher.exists():
        pytest.skip(f"not built: {launcher}")

    def start(script, restart=True):
        again = {"SLURM_RESTART_COUNT": "1"} if restart else {}
        return subprocess.Popen([launcher, "once", "--", "sh", "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
                                start_new_session=True,
                                env={**os.environ, "SLURM_JOB_ID": "7", "SLURM_SUBMIT_DIR": str(tmp_path), **again})

    def run(script, **options):
        process = start(script, **options)
        said, _ = process.communicate(timeout=120)
        return process.returncode, said
    run.start = start
    return run


def test_a_program_comes_to_its_end_once(once):
    assert once("echo it ran", restart=False) == (0, "it ran\n")
    code, said = once("echo it ran again")
    assert code == 0 and "completed at an earlier start" in said and "it ran again" not in said
    assert once("echo of another job", restart=False) == (0, "of another job\n")  # which has the number now


@pytest.mark.parametrize("script, code", [("exit 3", 3), ("kill -9 $$", 128 + signal.SIGKILL)])
def test_a_program_that_fails_runs_again(once, script, code):
    assert once(script, restart=False) == (code, "")
    assert once("echo it ran again") == (0, "it ran again\n")


def test_a_program_that_was_told_to_end_runs_again(once):
    """Whatever its exit code is: Slurm tells the launcher, too."""
    program = once.start('trap "exit 0" TERM; echo on; while :; do sleep 0.05; done', restart=False)
    assert program.stdout.readline() == "on\n"
    os.killpg(program.pid, signal.SIGTERM)
    assert program.wait(120) == 0
    program.stdout.close()
    assert once("echo it ran again") == (0, "it ran again\n")


def test_what_waits_for_a_job_ends_with_its_script(program, tmp_path):
    launcher = program.parent / "allot-elastic"
    if not launcher.exists():
        pytest.skip(f"not built: {launcher}")
    script = subprocess.Popen(["sh", "-c", f'"{launcher}" run -- true 2> said & wait'], cwd=tmp_path,
                              env={**os.environ, "SLURM_JOB_ID": "7", "SLURM_SUBMIT_DIR": str(tmp_path)})
    wait_until(lambda: (tmp_path / f".allot-{os.getuid()}" / "7" / "command.json").exists(), "the order")
    script.kill()
    script.wait()
    wait_until(lambda: "script must wait" in text_of(tmp_path / "said"), "its end")
