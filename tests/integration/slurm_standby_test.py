"""`allot serve --runtime slurm` after what it knew is lost: a new state folder, or a standby that takes over."""

import itertools
import json
import re
import shutil
import signal
import subprocess

import pytest

import cluster as slurm
from allot_on_slurm import LONG, Serve, why_not
from waiting import json_of, text_of, wait_until

NUMBERS = itertools.count()
GATED = "#!/bin/bash\necho begun >>log\nuntil [ -e end ]; do sleep 0.1; done\n"


@pytest.fixture(scope="module")
def cluster(program):
    if why_not(program):
        pytest.skip(why_not(program))
    with slurm.throw_away() as one:
        yield one


@pytest.fixture
def daemons(program, cluster, tmp_path):
    """daemons(name): one with a state folder of its own, not started. Both know each other's address."""
    begun = []
    addresses = "|".join(f"127.0.0.1:{port}" for port in slurm.free_ports(2))

    def make(name, runtime=f"slurm:address={addresses}"):
        folder = tmp_path / f"{name}{next(NUMBERS)}"  # by which jobs' folders are called; short, for a socket is in it
        folder.mkdir()
        begun.append(Serve(program, cluster, folder, runtime=runtime))
        return begun[-1]
    yield make
    for one in begun:
        if one.process is not None:
            one.kill()  # a stopped one, too
    cluster.clear()


def in_charge(daemon):
    wait_until(lambda: "acquired lease" in daemon.log(), lambda: f"it to be in charge: {daemon.log()[-2000:]}")


def test_a_daemon_that_lost_its_state_folder_keeps_what_runs(daemons):
    serve = daemons("one", "slurm")
    serve.start()
    elastic = serve.submit("allot min=3 max=3", *LONG)
    job = serve.training(elastic, 3)
    scripts = {}
    for comment in ("", "allot min=2 resize=restart"):
        number = serve.submit(comment, options=("--gres=gpu:v100:2",), script=GATED)
        scripts[number] = serve.home
        serve.training(number, 2, behind=-1, epoch=-1)
        wait_until(lambda home=serve.home: text_of(home / "log"), "its script to run")
    workers = serve.workers(elastic)
    serve.kill()
    shutil.rmtree(serve.state)
    serve.start()
    after = serve.training(elastic, 3, behind=job["step"], epoch=job["epoch"] + 1)
    assert sorted(serve.workers(elastic)) == sorted(workers), "each was kept, none was started"
    assert after["step"] > job["step"]
    assert after["age"] > job["age"], "it is as old as before"
    found = [record for record in json_of(serve.state / "journal.jsonl") if record["what"] == "give"]
    assert found and all(record["since"] < record["at"] for record in found), "each held its GPUs before this daemon came"
    for number, home in scripts.items():
        assert serve.training(number, 2, behind=-1, epoch=-1)
        (home / "end").touch()
        serve.ended(number, "COMPLETED")
        assert serve.cluster.jobs()[number]["Restarts"] == "0" and text_of(home / "log") == "begun\n"


# Takes longer than 10 s: the lease of a stopped daemon ends after 15 s.
@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_a_standby_takes_over_and_no_worker_runs_twice(daemons, signum):
    leader, standby = daemons("leader"), daemons("standby")
    leader.start()
    number = leader.submit("allot min=2 max=2", *LONG)
    job = leader.training(number, 2)
    workers = sorted(leader.workers(number))
    standby.launch("--standby")
    wait_until(lambda: "waiting for the lease" in standby.log(), "it to stand by")
    leader.process.send_signal(signum)
    in_charge(standby)
    after = standby.training(number, 2, behind=job["step"], epoch=job["epoch"] + 1)
    assert sorted(standby.workers(number)) == workers, "each was kept, none was started"
    if signum == signal.SIGSTOP:
        written = len(text_of(leader.state / "journal.jsonl"))
        leader.process.send_signal(signal.SIGCONT)
        assert leader.process.wait(120) == 0, "who is no longer in charge ends"
        assert "lost lease" in leader.log()
        said = text_of(leader.state / "journal.jsonl")[written:]
        assert not any(f'"what":"{what}"' in said for what in ("start", "stop", "announce", "gone", "give", "take"))
    assert standby.training(number, 2, behind=after["step"], epoch=after["epoch"])
    assert sorted(standby.workers(number)) == workers
    second = standby.submit("allot max=1", "--steps", 20)
    standby.ended(second, "COMPLETED")


def test_a_standby_that_is_told_to_stop_has_done_its_work(daemons):
    leader, standby = daemons("leader"), daemons("standby")
    leader.start()
    standby.launch("--standby")
    wait_until(lambda: "waiting for the lease" in standby.log(), "it to stand by")
    standby.process.terminate()
    assert standby.process.wait(120) == 0, "a service manager calls it stopped, not failed"
    assert "interrupted as a standby, before it became active" in standby.log()
    assert leader.status()


def test_a_standby_says_that_it_waits_and_for_whom(daemons):
    leader, standby = daemons("leader"), daemons("standby")
    leader.start()
    standby.launch("--standby")
    waits = rf"waits to be in charge \(process {standby.process.pid}\): '.*' is in use by .*process {leader.process.pid}$"
    said = wait_until(lambda: (done := standby.say("status")).returncode == 0 and done.stdout.strip(), "it to say so")
    assert re.fullmatch(waits, said), said
    refused = standby.say("pause")
    assert refused.returncode == 1 and "has no status yet" in refused.stderr
    done = subprocess.run([standby.program, "doctor", "--json", "--state", standby.state], env=standby.environment,
                          capture_output=True, text=True, timeout=300)
    found = json.loads(done.stdout)
    checks = {one["check"]: one for one in found["checks"]}
    assert found["runtime"].startswith("slurm:address="), "that which it is to serve"
    assert checks["daemon.answer"]["health"] == "fine" and re.fullmatch(waits, checks["daemon.answer"]["seen"])
    leader.process.terminate()
    in_charge(standby)
    assert "standby" not in standby.status()


@pytest.mark.parametrize("runtime", ["slurm", "slurm:address=127.0.0.1:7171"])
def test_a_standby_without_the_addresses_of_all_daemons_is_refused(allot, runtime, tmp_path):
    said = allot("serve", "--runtime", runtime, "--standby", "--state", tmp_path / "state", exit=2).stderr
    assert "workers that know one address do not find another daemon" in said
