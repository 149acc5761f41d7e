"""examples/planned: a job that is resized from one plan to another, and goes on from its resharded checkpoint."""

import os
import re

import pytest

from local import Live
from pythons import python_with_its_own_torch
from waiting import text_of, wait_until

SAID = re.compile(r"(begins|saved) at step (\d+) with dp=(\d+) tp=(\d+) pp=(\d+): state ([0-9a-f]{8})")


@pytest.fixture
def live(program, root, tmp_path):
    one = Live(program, None, tmp_path, cluster="1x8")
    one.environment = {**os.environ, "PYTHON": python_with_its_own_torch(), "PYTHONPATH": str(root / "python")}
    yield one
    one.end()


def gpus(said):
    return int(said[2]) * int(said[3]) * int(said[4])


# Takes longer than 10 s: PyTorch is imported twice, for 8 and for 4 processes of a group.
def test_a_job_goes_on_under_another_plan(live, root):
    folder = root / "examples" / "planned"
    (live.spool / "planned.toml").write_text(
        f'[[job]]\nname = "planned"\nmodel = "planned"\ngpus = 8\nmin = 4\nmax = 8\nresize = "restart"\n'
        f'command = ["{folder}/train.sh", "--steps", "1000000"]\n')
    live.serve("--catalogue", folder / "catalogue.csv")
    logs = live.state / "local" / "jobs" / "planned" / "log"

    def output():
        return "".join(text_of(log) for log in sorted(logs.glob("*.log"), key=lambda log: log.stat().st_ctime))

    def losses():
        return [float(loss) for loss in re.findall(r"^step=\d+ loss=([0-9.]+)$", output(), re.MULTILINE)]

    # Eight processes of torch on the cores that other tests use, too.
    wait_until(lambda: len(losses()) > 20, lambda: f"training on 8: {output()[-3000:]} {live.log()[-2000:]}", seconds=400)
    plan = live.job("planned")["plan"]
    live.daemon.kill()
    live.daemon.wait()
    live.serve("--catalogue", folder / "catalogue.csv")
    assert live.job("planned")["plan"] == plan, "after a restart of the daemon"

    (live.spool / "other.toml").write_text(
        '[[job]]\nname = "other"\ngpus = 4\nresize = "restart"\ncommand = ["sleep", "100000"]\n')
    wait_until(lambda: len(SAID.findall(output())) == 3, lambda: f"the second plan: {output()[-3000:]}", seconds=400)
    before = len(losses())
    wait_until(lambda: len(losses()) > before + 20, lambda: f"training on 4: {output()[-3000:]}", seconds=400)
    first, saved, second = SAID.findall(output())
    assert [gpus(said) for said in (first, saved, second)] == [8, 8, 4]
    assert all(int(size) > 1 for size in first[2:5]), "all three ways of splitting at once"
    assert saved[1] == second[1] and saved[5] == second[5], "model and optimizer are the same to the bit"
    assert int(saved[1]) == before
    assert losses()[-1] < losses()[before - 1] < losses()[0], "the loss goes on falling"
    plans = [record["plan"] for record in live.journal() if record["what"] == "give" and record["job"] == "planned"]
    assert plans[0] == plan and f"dp={second[2]} tp={second[3]} pp={second[4]} " in plans[1]
