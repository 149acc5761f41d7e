"""A live cluster of local processes: a job whose batch follows its GPUs and the noise of its gradient."""

import json
import re

import pytest

from local import Live
from waiting import text_of, wait_until


@pytest.fixture
def live(program, tmp_path):
    mlp = program.parent / "examples" / "elastic_mlp"
    if not mlp.exists():
        pytest.skip(f"not built: {mlp} (needs libtorch)")
    one = Live(program, mlp, tmp_path)
    yield one
    one.end()


def submit(live, name, *words, high=4):
    command = [str(live.counter), "--steps", "1000000", "--batch", "32", "--rate", "0.01", "--pace-ms", "10", *words]
    part = live.folder / f"{name}.part"
    part.write_text(f'[[job]]\nname = "{name}"\ngpus = 1\nmin = 1\nmax = {high}\ncommand = {json.dumps(command)}\n')
    part.rename(live.spool / f"{name}.toml")


ADAPTS = ("--pace-us", "20", "--most-batch", "2048", "--most-local", "512")


def told(live, name):
    return [r for r in live.journal() if r["what"] == "trains with" and r["job"] == name]


def test_the_batch_changes_after_growth_and_its_times_are_measured_once(live):
    submit(live, "a", *ADAPTS)
    live.serve(policy="index")
    grown = wait_until(lambda: [r for r in told(live, "a") if r["gpus"] == 4], "a choice for 4 GPUs")
    assert grown[0]["noise"] > 0 and 32 <= grown[0]["total"] <= 2048 + 4

    def trains_with():
        return (now := live.job("a")["batch"]) and {key: now[key] for key in ("local", "total")}
    wait_until(lambda: (now := trains_with()) and now == {key: told(live, "a")[-1][key] for key in now},
               lambda: f"training with {told(live, 'a')[-1]}: {trains_with()}")
    timed = [(r["type"], r["nodes"], r["gpus"], r["local"]) for r in live.journal() if r["what"] == "timed"]
    assert timed and len(timed) == len(set(timed))

    def batches():
        return {int(b) for log in (live.state / "local" / "jobs" / "a" / "log").glob("*.log")
                for b in re.findall(r" batch=(\d+) ", text_of(log))}
    wait_until(lambda: 32 in batches() and len(batches()) > 1, lambda: f"steps of other batches: {batches()}")

    # The next daemon knows it, and the job trains on meanwhile.
    live.daemon.kill()
    live.daemon.wait()
    before = live.journal()
    live.serve(policy="index")
    live.training("a", at_least=4, step=max(r.get("step", 0) for r in before))
    wait_until(lambda: len(told(live, "a")) > sum(r["what"] == "trains with" for r in before), "it to be told again")


@pytest.mark.parametrize("policy", ["pollux", "index:sizes=1|2|4"])
def test_policies_of_goodput_decide_and_a_job_that_keeps_its_batch_is_as_before(live, policy):
    submit(live, "a", *ADAPTS)
    submit(live, "b")
    live.serve(policy=policy)
    live.training("a")
    live.training("b")
    wait_until(lambda: told(live, "a"), "a choice")
    assert live.job("a")["batch"]["total"] >= 32
    assert live.job("b")["batch"] is None and not told(live, "b")
    assert not [r for r in live.journal() if r["what"] in ("batch", "timed", "noise") and r["job"] == "b"]
