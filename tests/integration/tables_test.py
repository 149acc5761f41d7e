"""Tables of users as traces: what inspect suggests is what other commands take."""

import csv
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

TABLES = Path(__file__).resolve().parents[1] / "data" / "tables"
CASES = TABLES.parent / "cases"
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


@pytest.mark.parametrize("options, message", [
    (["serve", "--worker-timeout", "0"], "--worker-timeout: must be positive, got 0"),
    (["serve", "--stalled-after", "-1h"], "--stalled-after: must be 0 or more, got -3600"),
    (["serve", "--interval", "0"], "--interval: must be from 0.05 to 86400, got 0"),
    (["top", "--speed", "nan"], "--speed: must be positive, got nan"),
    (["simulate", "--interval", "5 apples"], "1 week or 1-02:03:04, got '5 apples'"),
    (["compare", "--from", "soon"], "1 week or 1-02:03:04, got 'soon'"),
])
def test_a_refused_time_says_the_rule_and_the_value(allot, options, message):
    assert message in allot(*options, exit=2).stderr


def test_one_grammar_of_times(allot, tmp_path):
    (tmp_path / "t.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,1,600\nb,604801,1,500\n")
    for week in ("1 week", "1w", "7d", "7-00:00:00", "168:00:00", "604800"):
        done = allot("simulate", "-w", "t.csv", "--from", week, "--json")
        assert json.loads(done.stdout)["jobs"] == 1, week


@pytest.mark.parametrize("text, gpus", [
    ((CASES / "pbs.txt").read_text(), 2),
    ("gpu.q:n1:users:ann:train:101:sge:0:1790812800:1790812860:1790816460:0:0:3600" + ":" * 18
     + "p:d:smp:2:0:1:1:1:-l gpu=1:0:NONE:1\n", 2),
    ("id   submit               gpus  run_s\na   2026-10-01 10:00:00  4     3600\n", 4),
])
def test_the_named_command_makes_a_table_that_is_read(allot, tmp_path, text, gpus):
    """Of files of other schedulers."""
    (tmp_path / "other.txt").write_text(text)
    said = allot("trace", "inspect", "other.txt", exit=3).stderr
    command = re.search(r": ((?:awk|sed) .* > jobs\.csv); then: (allot trace inspect jobs\.csv)", said)
    subprocess.run(command[1], shell=True, check=True, cwd=tmp_path)
    guess = json.loads(allot(*shlex.split(command[2])[1:], "--json").stdout)
    assert guess["lacks"] == []
    allot("trace", "convert", "jobs.csv", "--columns", guess["columns"], "-o", "own.csv")
    with open(tmp_path / "own.csv", newline="") as file:
        (job,) = csv.DictReader(file)
    assert (float(job["gpus"]), float(job["duration_s"])) == (gpus, 3600)


def test_swf_is_read_and_written(allot, tmp_path):
    first = allot("trace", "inspect", CASES / "swf.txt")
    assert "(format swf)" in first.stdout and "run time is 0 s" in first.stdout and "as one GPU" in first.stdout
    allot("trace", "convert", CASES / "swf.txt", "-o", "a.swf", "-c", "128x1")
    assert "; MaxProcs: 128\n; UnixStartTime: 1000000000\n" in (tmp_path / "a.swf").read_text()
    allot("trace", "convert", "a.swf", "--write-as", "swf", "-o", "b.txt", "-c", "128x1")
    assert (tmp_path / "a.swf").read_text() == (tmp_path / "b.txt").read_text()
    # No cluster is named, so that none need hold the jobs.
    (tmp_path / "large.swf").write_text("1 0 0 60 5000 -1 -1 5000 60 -1 1 1 1 -1 1 -1 -1 -1\n")
    assert ",5000,60" in allot("trace", "convert", "large.swf").stdout
    # Deadlines, models and fractions have no place there.
    (tmp_path / "t.csv").write_text("job_id,submit_s,gpus,duration_s,deadline_s\na,0,1,1.5,9\n")
    said = allot("trace", "convert", "t.csv", "-o", "c.swf").stderr
    assert "ids are left out" in said and "deadline (1 of the jobs)" in said and "rounded" in said


def test_help_is_a_command(allot):
    assert allot("help").stdout == allot("--help").stdout
    assert allot("help", "trace", "convert").stdout == allot("trace", "convert", "--help").stdout
    assert "results is required: folder of an evaluation" in allot("plot", exit=2).stderr
    assert "known under --profile gavel only" in allot("simulate", "-p", "gandiva", exit=2).stderr


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


def test_no_command_is_suggested_that_stops_at_once(allot, tmp_path):
    dates = tmp_path / "dates.csv"
    dates.write_text("submitted,gpus,started,finished\n03/04/2026 08:00,1,03/04/2026 08:00,03/04/2026 09:00\n"
                     "04/04/2026 08:00,2,04/04/2026 08:00,04/04/2026 08:30\n")
    text = allot("trace", "inspect", dates).stdout
    assert "times=dmy takes the first, times=mdy the second" in text
    suggested = json.loads(allot("trace", "inspect", dates, "--json").stdout)
    for command in suggested["commands"]:
        assert command in text and "times=dmy" in command
        allot(*shlex.split(command)[1:])
    never = tmp_path / "never.csv"
    never.write_text("submitted,gpus,runtime_s\n9999-12-30 08:00,1,100\n9999-12-31 08:00,2,200\n")
    text = allot("trace", "inspect", never, exit=3).stdout
    assert "Reading it so stops: " in text and "the year 9999 (" in text and "  allot " not in text


def test_inspect_says_what_counts_as_beyond_a_limit(allot, tmp_path):
    (tmp_path / "t.txt").write_text(
        "JobID|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES\n"
        "1|COMPLETED|2026-10-01T00:00:00|2026-10-01T00:00:00|2026-10-01T01:00:12|3612|60|gres/gpu=12\n")
    text = allot("trace", "inspect", "t.txt").stdout
    assert "none ran beyond it (by more than 60 s, or 5 % of a short limit)" in text
    assert "allot whatif --workload t.txt --cluster 2x8" in text


def test_jobs_without_an_end_are_left_out_with_their_gpu_hours(allot, tmp_path):
    (tmp_path / "t.csv").write_text("submitted,gpus,started,finished\n2026-10-01 00:00,1,2026-10-01 00:00,2026-10-01 03:00\n"
                                    "2026-10-01 00:00,4,2026-10-01 01:00,\n")
    columns = "submit=submitted,gpus=gpus,start=started,end=finished"
    text = allot("trace", "inspect", "t.csv", "--columns", columns).stdout
    assert "had not ended when the trace did, 8.0 GPU-hours" in text
