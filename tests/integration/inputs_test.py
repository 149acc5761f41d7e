"""Results name every input by content: a sweep or a training run whose input has changed does not go on."""

import json
import shutil

import pytest

JOBS = "job_id,submit_s,gpus,duration_s,model,tenant\n" + "".join(
    f"{i},{60 * i},{2 + 2 * (i % 2)},{100 + 7 * i},resnet18:16,{'xy'[i % 2]}\n" for i in range(8))
RULES = '[[maintenance]]\nnodes = ["0"]\nfrom = "50s"\nto = "{}"\n'

# option or policy -> (file, content, other content)
CHANGED = {
    "workload": (["-w", "jobs.csv"], "jobs.csv", JOBS, JOBS.replace(",100,", ",900,")),
    "cluster": (["-c", "nodes.txt"], "nodes.txt", "1x4\n", "2x4\n"),
    "rules": (["--rules", "rules.toml"], "rules.toml", RULES.format("1h"), RULES.format("2h")),
    "node-events": (["--node-events", "events.csv"], "events.csv", "time_s,node,event\n50,0,down\n90,0,up\n",
                    "time_s,node,event\n50,0,down\n900,0,up\n"),
    "model-map": (["--model-map", "map.csv"], "map.csv", "theirs,ours\nresnet18:16,resnet50:16\n", "theirs,ours\nresnet18:16,resnet50:32\n"),
    "quotas": (["--policies", "fifo:admission=tenant-quota/gpus=2/file=quotas.csv"], "quotas.csv",
               "tenant,gpus\nx,2\n", "tenant,gpus\nx,4\n"),
    "history": (["--policies", "gittins:history=past.csv"], "past.csv", JOBS, JOBS.replace(",100,", ",900,")),
    "inner": (["--policies", "guarded:policy=gittins/history=past.csv"], "past.csv", JOBS, JOBS.replace(",100,", ",900,")),
}


@pytest.mark.parametrize("kind", CHANGED)
def test_a_sweep_of_changed_inputs_is_refused(allot, tmp_path, kind):
    given, name, content, other = CHANGED[kind]
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / name).write_text(content)
    options = {"-w": "jobs.csv", "-c": "1x4", "--policies": "fifo"} | dict(zip(given[::2], given[1::2]))
    command = ["sweep", *(text for pair in options.items() for text in pair), "--out", "cells"]
    first = allot(*command).stdout
    assert "1 of them taken up" in allot(*command).stderr
    (tmp_path / name).write_text(other)
    refused = allot(*command, exit=3).stderr
    assert f"'{name}'" in refused and "'cells'" in refused
    (tmp_path / name).write_text(content)
    assert allot(*command).stdout == first


def test_a_checkpoint_trained_anew_is_another_input(allot, root, tmp_path):
    for name in ("first", "second"):
        shutil.copytree(root / "checkpoints" / "philly-elastic" / "accepted", tmp_path / name)
    with open(tmp_path / "second" / "card.md", "a", encoding="utf-8") as card:
        card.write("trained anew\n")
    command = ["sweep", "-w", "embedded", "--to", "2017-11-02", "--loads", "0.5", "-c", "2x8",
               "--policies", "learned:checkpoint=first", "--out", "cells"]
    allot(*command)
    shutil.rmtree(tmp_path / "first")
    (tmp_path / "second").rename(tmp_path / "first")
    assert "'first'" in allot(*command, exit=3).stderr


def test_an_evaluation_names_its_inputs(allot, root, tmp_path):
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "quotas.csv").write_text("tenant,gpus\nx,2\n")
    checkpoint = root / "checkpoints" / "philly-elastic" / "accepted"
    allot("evaluate", "--checkpoint", checkpoint, "-w", "jobs.csv", "-c", "2x4",
          "--against", "las:admission=tenant-quota/file=quotas.csv", "--out", "runs")
    inputs = json.loads((tmp_path / "runs" / "origin.json").read_text())["inputs"]
    assert sorted(inputs) == sorted(["jobs.csv", "quotas.csv", str(checkpoint)])


@pytest.mark.parametrize("kind", ["workload", "cluster", "node-events"])
def test_training_does_not_resume_on_changed_inputs(allot, training, tmp_path, kind):
    given, name, content, other = CHANGED[kind]
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / name).write_text(content)
    options = {"-w": "jobs.csv", "-c": "2x4"} | dict(zip(given[::2], given[1::2]))
    command = ["train", *(text for pair in options.items() for text in pair), "--batch", "1", "--episode-span", "10m",
               "--load", "0.5", "--validation-workloads", "1", "--method", "policy-gradient:rollouts=3", "--teacher", "fifo",
               "--out", "run", "--quiet"]
    allot(*command, "--iterations", "1")
    (tmp_path / name).write_text(other)
    refused = allot(*command, "--iterations", "2", "--resume", exit=3).stderr
    assert f"'{name}'" in refused
    (tmp_path / name).write_text(content)
    allot(*command, "--iterations", "2", "--resume")
