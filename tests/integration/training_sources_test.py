"""What checkpoints say they were made from, and what they measured; runs that are stopped while they measure."""

import json
import resource
import shutil
import subprocess

import pytest
from waiting import cpu_seconds, interrupted

WORLD = ["--cluster", "2x8", "--load", "1", "--span", "12h"]
TRAIN = ["--cluster", "2x8", "--batch", "2", "--method", "policy-gradient:rollouts=3", "--episode-span", "12h",
         "--training-loads", "0.3", "--quiet"]
LATER = ["--from", "2017-11-13"]


def read_json(path):
    return json.loads(path.read_text())


@pytest.fixture
def pretrained(allot, training, tmp_path):
    """A warm-up on decisions of the later weeks."""
    allot("compare", *WORLD, *LATER, "--policies", "drf", "--log", tmp_path / "logs")
    allot("pretrain", "--log", tmp_path / "logs" / "cluster" / "drf-v0", "--epochs", "1", "--out", tmp_path / "pre", "--quiet")
    return tmp_path / "pre" / "checkpoint"


def seen_by(allot, checkpoint, out):
    done = allot("evaluate", "--checkpoint", checkpoint, *WORLD, *LATER, "--against", "fifo", "--out", out)
    assert read_json(out / "evaluation.json")["unseen"] is False, done.stdout
    return done.stdout


def test_weeks_of_the_log_are_seen(allot, pretrained, tmp_path):
    assert read_json(pretrained / "config.json")["sources"] == [{"workload": "embedded", "from": "2017-11-13", "to": ""}]
    assert "seen in training" in seen_by(allot, pretrained, tmp_path / "out")


def test_a_checkpoint_inherits_what_its_start_saw(allot, pretrained, tmp_path):
    allot("train", *TRAIN, "--to", "2017-11-13", "--start", pretrained, "--iterations", "1", "--validation-workloads", "1",
          "--out", tmp_path / "run")
    seen_by(allot, tmp_path / "run" / "latest", tmp_path / "out")
    refused = allot("train", *TRAIN, "--to", "2017-11-13", "--start", tmp_path / "run" / "best", "--iterations", "1",
                    "--validation-workloads", "1", "--out", tmp_path / "run", "--resume", exit=2).stderr
    assert "was trained with start" in refused


def test_run_times_of_later_weeks_are_seen(allot, training, tmp_path):
    allot("train", *TRAIN, "--to", "2017-11-13", "--history", "embedded@2017-11-27", "--iterations", "1",
          "--validation-workloads", "1", "--out", tmp_path / "run")
    seen_by(allot, tmp_path / "run" / "latest", tmp_path / "out")


def test_without_held_out_decisions_nothing_is_measured(allot, training, tmp_path):
    allot("compare", *WORLD, "--policies", "drf", "--log", tmp_path / "logs")
    done = allot("pretrain", "--log", tmp_path / "logs" / "cluster" / "drf-v0", "--epochs", "1", "--hold-out", "0",
                 "--out", tmp_path / "pre", "--json", "--quiet")
    assert json.loads(done.stdout)["agreement"] is None
    assert "was not measured" in (tmp_path / "pre" / "checkpoint" / "card.md").read_text()
    header, row = (tmp_path / "pre" / "pretrain.csv").read_text().splitlines()
    assert header == "epoch,loss,held_out_loss,agreement" and row.endswith(",,")


def test_a_run_stopped_while_it_validates_goes_on_there(allot, training, program, tmp_path):
    options = [*TRAIN, "--iterations", "2", "--validate-every", "1", "--validation-workloads", "240"]
    allot("train", *options, "--out", tmp_path / "whole")
    out = tmp_path / "run"
    began = []

    def start():
        shutil.rmtree(out, ignore_errors=True)
        began.clear()
        return subprocess.Popen([program, "train", *options, "--out", out], stderr=subprocess.PIPE, text=True)

    def validates(process):  # for some time: the first validation takes a second and more
        if list(out.glob("events*")):
            began.append(cpu_seconds(process))
        return began and began[-1] > began[0] + 0.02

    code, stderr = interrupted(start, validates)
    assert code == 130, stderr
    state = read_json(out / "latest" / "state.json")["state"]
    assert f"interrupted after iteration {state['iteration']};" in stderr
    allot("train", *options, "--out", out, "--resume")
    assert (out / "latest" / "model.safetensors").read_bytes() == (tmp_path / "whole" / "latest" / "model.safetensors").read_bytes()
    curves = [[line.split(",")[:2] + line.split(",")[3:] for line in (folder / "curve.csv").read_text().splitlines()]
              for folder in (out, tmp_path / "whole")]
    assert curves[0] == curves[1]  # but for the CPU time


def test_a_full_disk_costs_no_accepted_policy(allot, training, tmp_path):
    allot("train", *TRAIN, "--iterations", "1", "--validation-workloads", "1", "--out", tmp_path / "run")
    models = tmp_path / "models"
    gate = ["gate", "--candidate", tmp_path / "run" / "best", "--models", models, *WORLD, "--workloads", "2", "--allow-seen",
            "--against", "fifo", "--max-ratio", "1.99", "--quiet"]
    allot(*gate)
    before = (models / "accepted" / "gate.json").read_bytes()
    stderr = allot(*gate, exit=1, restore_signals=False,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))).stderr
    assert "cannot" in stderr
    assert (models / "accepted" / "gate.json").read_bytes() == before
    assert [path.name for path in models.rglob("*") if path.is_dir() and path.name not in ("former",)] == ["accepted"]
    allot(*gate)
    assert (models / "former" / "001" / "gate.json").read_bytes() == before
