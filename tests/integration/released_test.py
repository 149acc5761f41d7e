"""The policies in checkpoints/ do what their reports say."""

import json
import shlex
from pathlib import Path

import pytest

RELEASED = sorted((Path(__file__).resolve().parents[2] / "checkpoints").glob("*/accepted"))


def rivals(folder):
    report = json.loads((folder / "gate.json").read_text())
    return report, {rival["policy"]: rival["jct_ratio"] for rival in report["rivals"]}


def test_there_are_some():
    assert RELEASED


# Takes longer than 10 s: the evaluation that the policy was released by is run again.
@pytest.mark.parametrize("released", RELEASED, ids=lambda folder: folder.parent.name)
def test_a_released_policy_reaches_what_its_report_says(allot, released, tmp_path):
    report, told = rivals(released)
    command = shlex.split(report["evaluation"]["command"])[1:]
    command[command.index("--candidate") + 1] = released
    command[command.index("--models") + 1] = tmp_path / "models"
    allot(*command, "--quiet")
    _, again = rivals(tmp_path / "models" / "accepted")
    assert again.keys() == told.keys()
    for policy, ratio in told.items():
        assert again[policy] == pytest.approx(ratio, rel=1e-9), policy


@pytest.mark.parametrize("released", RELEASED, ids=lambda folder: folder.parent.name)
def test_a_released_policy_tells_how_it_was_made(released):
    assert "- made by: `allot train " in (released / "card.md").read_text()
    assert "is accepted" in (released / "gate.md").read_text()
