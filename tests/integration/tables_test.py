"""Tables of users as traces: what inspect suggests is what other commands take."""

import json
import re
import shlex
from pathlib import Path

import pytest

TABLES = Path(__file__).resolve().parents[1] / "data" / "tables"
FILES = sorted(path.name for path in TABLES.iterdir())


@pytest.mark.parametrize("name", FILES)
def test_the_suggested_commands_work(allot, name):
    suggested = json.loads(allot("trace", "inspect", str(TABLES / name), "--json").stdout)
    assert suggested["lacks"] == []
    text = allot("trace", "inspect", str(TABLES / name)).stdout
    for command in suggested["commands"]:
        assert command in text
    inspect, compare, whatif, convert = (shlex.split(command)[1:] for command in suggested["commands"])
    assert "Left out" in allot(*inspect).stdout
    done = json.loads(allot(*compare, "--policies", "fifo", "--json").stdout)
    assert done["read"]["columns"] == suggested["columns"]
    assert json.loads(allot(*whatif, "--policies", "fifo", "--json").stdout)["workload"]
    allot(*convert)
    assert "(format allot)" in allot("trace", "inspect", "jobs.csv").stdout


def test_an_incomplete_guess_says_what_to_add(allot, tmp_path):
    (tmp_path / "t.csv").write_text("who,when\nme,2026-11-23 14:05\n")
    done = allot("trace", "inspect", "t.csv", exit=3)
    assert "gpus=COLUMN" in done.stdout and "duration=COLUMN" in done.stdout
    assert "--columns" in allot("simulate", "-w", "t.csv", exit=3).stderr


def test_sweeps_and_python_take_columns(allot, tmp_path):
    table = str(TABLES / "zeros.csv")
    columns = "submit=submit_time,gpus=gpu_req,duration=elapsed_s"
    done = allot("sweep", "-w", table, "--columns", columns, "--policies", "fifo", "--clusters", "2x8", "--json")
    assert json.loads(done.stdout)["read"][table]["columns"] == columns


def test_times_have_units(allot, tmp_path):
    (tmp_path / "t.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,1,600\nb,30,1,500\n")
    jobs = set()
    for interval in ("600", "10m", "600s"):
        allot("simulate", "-w", "t.csv", "--interval", interval, "--out", interval)
        jobs.add((tmp_path / interval / "jobs.csv").read_bytes())
    assert len(jobs) == 1
    allot("simulate", "-w", "t.csv", "--out", "usual")
    assert (tmp_path / "usual" / "jobs.csv").read_bytes() not in jobs
    stderr = allot("simulate", "-w", "t.csv", "--interval", "5 apples", exit=2).stderr
    assert "--interval" in stderr and "5m" in stderr


def test_trace_commands_have_the_same_arguments(allot, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n0,1,600\n30,2,500\n")
    columns = ["--columns", "submit=a,gpus=b,duration=c"]
    wanted = "job_id,submit_s,gpus,duration_s\n0,0,1,600\n1,30,2,500\n"
    assert allot("trace", "convert", "t.csv", *columns).stdout == wanted
    assert allot("trace", "convert", "-w", "t.csv", *columns).stdout == wanted
    assert allot("trace", "inspect", "-w", "t.csv", *columns).stdout
    three = [allot("trace", "generate", *law, "--jobs", "5").stdout
             for law in (["philly"], ["law:philly"], ["-w", "law:philly"])]
    assert three[0] == three[1] == three[2] and three[0].count("\n") == 6
    assert "--out" in allot("trace", "generate", "philly", "--json", exit=2).stderr


def test_models_are_renamed_and_unknown_ones_have_a_suggestion(allot, tmp_path):
    (tmp_path / "t.csv").write_text("job_id,submit_s,gpus,duration_s,model\na,0,1,600,ResNet-18\nb,0,1,600,ours\n")
    stderr = allot("simulate", "-w", "t.csv", exit=3).stderr
    assert "also unknown: ours" in stderr
    assert "ResNet-18" in stderr and "--model-map" in stderr and "did you mean" in stderr
    name = stderr.split("did you mean '")[1].split("'")[0]
    allot("simulate", "-w", "t.csv", "--model-map", f"ResNet-18={name},ours=")


def test_the_page_does_what_it_says(allot, tmp_path):
    page = (TABLES.parents[2] / "docs" / "your-trace.md").read_text()
    section = page.split("## A table of your own")[1].split("\n## ")[0].replace("\\\n", " ")
    commands = re.findall(r"^\$ allot (.*)$", "\n".join(section.split("```")[1::2]), re.MULTILINE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "data").symlink_to(TABLES.parent)
    assert len(commands) >= 4
    for command in commands:
        allot(*shlex.split(command))
    assert (tmp_path / "runs" / "mine.html").stat().st_size > 10000
