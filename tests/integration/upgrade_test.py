"""What earlier versions wrote and say (tests/data/released) is understood by this one."""

import json
import os
import shutil
import sys

import pytest

from local import Live
from waiting import wait_until

VERSIONS = ("797ff95", "2a4561a")


@pytest.fixture
def live(program, tmp_path):
    counter = program.parent / "examples" / "elastic_counter"
    if not os.access(counter, os.X_OK):
        pytest.skip(f"not built: {counter}")
    one = Live(program, counter, tmp_path)
    yield one
    one.end()


@pytest.fixture(params=VERSIONS)
def left_behind(live, root, request):
    """The state folder of a daemon of that version, which was killed together with the worker of its job `waits`."""
    released = root / "tests" / "data" / "released"
    shutil.copytree(released / "2a4561a", live.state)  # of the files beside the journal there is one kind
    shutil.copy(released / request.param / "journal.jsonl", live.state)
    live.state.chmod(0o700)
    job = live.state / "local" / "jobs" / "waits"
    (job / "token").chmod(0o600)
    order = json.loads((job / "job.json").read_text())
    order["command"][0], order["directory"] = str(live.counter), str(live.spool)
    (job / "job.json").write_text(json.dumps(order))
    return request.param


def test_a_daemon_goes_on_with_what_an_earlier_one_left(live, left_behind):
    before = {(r["what"], r.get("job")) for r in live.journal()}
    assert {("over", "done"), ("over", "runs"), ("trains", "waits")} <= before
    live.serve()
    assert live.over("waits")["state"] == "finished", live.log()
    said = "".join(log.read_text() for log in (live.state / "local" / "jobs" / "waits" / "log").glob("*.log"))
    assert "restored step=" in said, f"it goes on from the checkpoint of the earlier worker: {said}"
    wait_until(lambda: live.status()["finished"] == 2, "done and waits to count as finished; runs was cancelled")
    status = live.status()
    drained = {node["node"]: node["drained"] for node in status["nodes"]}
    assert drained == {"n1": False, "n2": left_behind != "797ff95"}, "there `resume` ended all drains"


@pytest.mark.parametrize("version", VERSIONS)
def test_an_earlier_worker_joins_and_trains(live, root, version):
    live.serve()
    (live.spool / "job.part").write_text(
        f'[[job]]\nname = "old"\ngpus = 1\ncommand = ["{sys.executable}", "{root}/tests/live/earlier_worker.py", "{version}"]\n')
    (live.spool / "job.part").rename(live.spool / "old.toml")
    end = live.over("old")
    assert (end["state"], end["step"]) == ("finished", 20), live.log()
    wait_until(lambda: ("of an earlier version" in live.log()) == (version == "797ff95"), "the warning that its token is said")
