"""When jobs will start and end: allot forecast on traces, and allot status --eta of a daemon."""

import csv
import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "live"))
from local import ENDLESS, Live, wait_until  # noqa: E402

DAY = 86400


@pytest.fixture
def trace(tmp_path):
    """A day of jobs of 512 to 608 s, then three that need the whole node of 4 GPUs."""
    rows = [f"h{i},{60 * i},1,{520 + i % 80}" for i in range(1400)]
    rows += [f"{name},{DAY + 100 + i},4,550" for i, name in enumerate("abc")]
    path = tmp_path / "trace.csv"
    path.write_text("job_id,submit_s,gpus,duration_s\n" + "\n".join(rows) + "\n")
    return path


def of(allot, trace, *words):
    return allot("forecast", "--workload", trace, "--cluster", "1x4", "--from", "1d", "--interval", "10",
                 "--length-estimates", "none", *words)


def test_the_job_behind_starts_when_the_one_before_it_ends(allot, trace):
    # The second decision: the first job runs, two wait. Arrivals of the history come behind them.
    said = json.loads(of(allot, trace, "--at", "110", "--json").stdout)
    jobs = {job["job"]: job for job in said["jobs"]}
    assert not jobs["a"]["waits"] and jobs["a"]["start"] is None
    assert 500 < jobs["a"]["end"]["0.5"] - said["now"] < 620
    assert jobs["a"]["end"]["0.5"] - 20 <= jobs["b"]["start"]["0.5"] <= jobs["a"]["end"]["0.5"] + 40
    assert jobs["c"]["start"]["0.1"] >= jobs["b"]["start"]["0.1"] + 500


def test_the_moment_is_the_one_that_is_asked_for(allot, tmp_path):
    """Between two events too, hours before the next one."""
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,4,7200\nb,50000,4,100\n")
    words = ["forecast", "jobs.csv", "--cluster", "2x4"]
    while_it_runs = json.loads(allot(*words, "--at", "10", "--json").stdout)
    assert while_it_runs["now"] == 10 and [job["job"] for job in while_it_runs["jobs"]] == ["a"]
    assert not while_it_runs["jobs"][0]["waits"]
    idle = allot(*words, "--at", "8000", "--json")
    assert json.loads(idle.stdout)["now"] == 8000 and json.loads(idle.stdout)["jobs"] == []
    assert "no job runs or waits at 8000 s" in idle.stderr
    rounded = allot(*words, "--at", "10", "--interval", "300", "--json")
    assert json.loads(rounded.stdout)["now"] == 300
    assert "multiples of 5m 00s here: the forecast is for 300 s, not for 10 s" in rounded.stderr


def test_limits_that_jobs_run_up_to_are_no_true_lengths(allot, tmp_path):
    """squeue tells no run time, so that each length that is drawn may be the job's limit."""
    (tmp_path / "squeue.txt").write_text(
        "JOBID|USER|PARTITION|STATE|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|NODES|REASON|TRES_ALLOC\n"
        "1|ann|gpu|RUNNING|2026-10-05T08:00:00|2026-10-05T08:00:00|2:00:00|3:00:00|1|None|cpu=8,gres/gpu=4\n"
        "2|bob|gpu|PENDING|2026-10-05T08:10:00|N/A|0:00|1:00:00|1|Resources|cpu=8,gres/gpu=4\n")
    said = json.loads(allot("forecast", "squeue.txt", "--cluster", "1x4", "--json").stdout)
    starts = {job["job"]: job["start"] for job in said["jobs"]}
    assert 0 < starts["2"]["0.9"] - said["now"] <= 3600
    assert "(oracle)" not in allot("compare", "squeue.txt", "--cluster", "1x4", "--policies", "fifo,sjf",
                                   "--length-estimates", "user").stdout


def test_a_pod_has_its_gpus_on_one_node(allot, tmp_path):
    """It never starts where no node has as many, though the cluster has."""
    pod = {"kind": "Pod", "apiVersion": "v1",
           "metadata": {"name": "NAME", "namespace": "n", "uid": "NAME", "creationTimestamp": "2026-10-05T08:00:00Z"},
           "spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}, "status": {"phase": "Pending"}}
    small = json.loads(json.dumps(pod).replace("NAME", "small"))
    small["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = 2
    big = json.loads(json.dumps(pod).replace("NAME", "big"))
    (tmp_path / "pods.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [big, small]}))
    said = allot("forecast", "pods.json", "--cluster", "3x4", "--json")
    assert [job["job"] for job in json.loads(said.stdout)["jobs"]] == ["n/small"]
    assert "asks for more GPUs in a pod than a node has" in said.stderr
    refused = allot("compare", "pods.json", "--cluster", "3x4", "--policies", "fifo", exit=3)
    assert "asks for 8 GPUs in a pod, the largest node has 4" in refused.stderr


def test_the_same_seed_gives_the_same_bytes(allot, trace):
    assert of(allot, trace, "--at", "110", "--json").stdout == of(allot, trace, "--at", "110", "--json").stdout


def test_a_check_writes_a_calibration_that_is_read_again(allot, tmp_path):
    world = ["--workload", "law:philly", "--jobs", "3000", "--rate", "18", "--cluster", "16x8", "--rigid", "--horizon", "2d",
             "--samples", "8", "--every", "3h", "--check", "--json"]
    raw = json.loads(allot("forecast", *world, "--fit", "fit.json").stdout)
    moved = json.loads(allot("forecast", *world, "--calibration", "fit.json").stdout)
    for before, after in zip(raw["scores"], moved["scores"]):
        if (after["what"], after["lead"]) == ("end, runs", "all"):
            assert before["times"] == after["times"] > 100
            assert 0.7 <= after["covered"] <= 0.95, after


def test_a_check_says_how_well_quantiles_of_lengths_hold(allot, tmp_path):
    # Lengths of a minute to a hundred, in no order, alike before and after the first day.
    rows = [f"j{i},{120 * i},1,{60 * 100 ** (i * 7919 % 1000 / 1000):.0f}" for i in range(1440)]
    (tmp_path / "t.csv").write_text("job_id,submit_s,gpus,duration_s\n" + "\n".join(rows) + "\n")
    allot("forecast", "--workload", "t.csv", "--cluster", "2x8", "--rigid", "--from", "1d", "--at", "0", "--horizon", "1d",
          "--samples", "1", "--every", "6h", "--length-estimates", "none", "--check", "--out", "check")
    rows = list(csv.DictReader((tmp_path / "check" / "lengths.csv").open()))
    shares = [float(row["covered"]) for row in rows if row["asked"] == "new" and row["gpus"] == "all"]
    assert len(shares) == 9 and shares == sorted(shares)
    assert 0.45 < shares[4] < 0.55 and 0.86 < shares[8] < 0.94, shares
    assert {row["asked"] for row in rows} == {"new", "under way"}
    allot("report", "check", "--out", "page.html")
    assert 'data-figure="lengths-0-lengths"' in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("words, said", [
    ([], ["--at TIME", "--check"]),
    (["--at", "1", "--fit", "x"], ["--fit is for --check"]),
    (["--at", "1", "--policy", "clairvoyant"], ["'clairvoyant'", "true lengths"]),
    (["--at", "9999d"], ["--at must lie before the end of the run", "9999d"]),
    (["--at", "1", "--history", "trace.csv@0"], ["--history trace.csv@0", "no job"]),
    (["--at", "110", "--calibration", "trace.csv"], ["'trace.csv'", "allot forecast --fit"]),
])
def test_what_cannot_be_is_named(program, tmp_path, trace, words, said):
    done = subprocess.run([program, "forecast", "--workload", "trace.csv", "--cluster", "1x4", "--from", "1d", *words],
                          cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode in (2, 3) and done.stdout == "", done.stdout
    for part in said:
        assert part in done.stderr, done.stderr


@pytest.fixture
def live(program, tmp_path):
    counter = program.parent / "examples" / "elastic_counter"
    if not os.access(counter, os.X_OK):
        pytest.skip(f"not built: {counter}")
    one = Live(program, counter, tmp_path, cluster="2x2")
    yield one
    one.end()


def test_a_daemon_says_when_jobs_start_and_end(live):
    live.submit("a", steps=ENDLESS, low=4, high=4, gpus=4)
    live.serve("--metrics", "tcp:127.0.0.1:0", "--forecast-every", "0.5", policy="fifo")
    live.training("a", at_least=4)
    live.submit("b", steps=ENDLESS, low=2, high=2, gpus=2)
    eta = wait_until(lambda: (live.job("b") or {}).get("eta"), "a forecast of the job that waits")
    quantiles = [eta["start"][level] for level in ("0.1", "0.5", "0.9")]
    known = [time for time in quantiles if time is not None]
    assert known == sorted(known) and eta["made"] <= min(known, default=eta["made"])
    assert live.job("a")["eta"]["start"] is None
    table = live.say("status", "--eta").stdout
    assert re.search(r"^a +.*runs", table, re.MULTILINE) and re.search(r"^b ", table, re.MULTILINE), table
    address = re.search(r"metrics at tcp:(\S+)\n", live.log())[1]
    text = wait_until(lambda: urllib.request.urlopen(f"http://{address}/metrics", timeout=120).read().decode(), "them")
    assert 'allot_job_start_seconds{job="b",level="0.5"}' in text
    assert 'allot_job_end_seconds{job="a",level="0.9"}' in text


def test_a_job_that_waits_for_maintenance_to_end_spoils_no_forecast(live, tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text('[[maintenance]]\nnodes = ["*1"]\nfrom = "2026-01-01 00:00:00"\nto = "2099-01-01 00:00:00"\n')
    live.submit("a", steps=ENDLESS, low=2, high=2, gpus=2)
    live.submit("wide", steps=ENDLESS, low=4, high=4, gpus=4)
    live.serve("--metrics", "tcp:127.0.0.1:0", "--forecast-every", "0.5", "--rules", rules, policy="index")
    live.training("a", at_least=2)
    wide = wait_until(lambda: (live.job("wide") or {}).get("eta"), "a forecast")
    assert wide["start"] is None and wide["end"] is None
    assert live.job("a")["eta"]["end"]["0.5"] is not None
    table = live.say("status", "--eta").stdout
    assert re.search(r"^wide .*\?", table, re.MULTILINE) and "1 job gets nothing of free GPUs" in table, table


def test_a_time_limit_bounds_the_end_and_is_taken_without_being_asked_for(allot, root):
    lim = root / "tests" / "data" / "cases" / "lim.csv"
    for words in ([], ["--length-estimates", "user"]):
        said = json.loads(allot("forecast", "-w", lim, "--at", "5m", "--cluster", "1x4", "--policy", "easy", *words, "--json").stdout)
        ends = {job["job"]: job for job in said["jobs"]}
        assert ends["a"]["end"]["0.9"] == pytest.approx(3600), "its limit, 55 minutes from now"
        assert ends["b"]["start"]["0.9"] <= 3600 + 300


def starts(allot, trace, *words):
    """By job: whether it waits, and the quantiles of its start and end in seconds from the moment."""
    said = json.loads(allot("forecast", "--workload", trace, "--json", *words).stdout)
    ahead = {}
    for job in said["jobs"]:
        ahead[job["job"]] = {name: [job[name][level] - said["now"] for level in ("0.1", "0.5", "0.9")] if job[name] else None
                             for name in ("start", "end")}
    return ahead, said


def test_a_job_that_waits_in_an_export_starts_when_one_that_runs_ends(allot, root):
    pend = root / "tests" / "data" / "cases" / "pend.txt"
    for words in ([], ["--at", "2026-10-05 01:30:00"]):
        ahead, said = starts(allot, pend, "--cluster", "1x4", *words)
        assert said["policy"] == "easy" and said["now"] == 5400
        assert set(ahead) == {"2", "3"} and ahead["2"]["start"] is None
        assert 0 < ahead["3"]["start"][0] <= ahead["3"]["start"][2] <= 5400, "job 2 ends at 03:00 at the latest"
        for end, start in zip(ahead["2"]["end"], ahead["3"]["start"]):
            assert end - 1e-6 <= start <= end + 300, "at the next decision"
        assert ahead["3"]["end"][2] <= 5400 + 7200
    # A quarter of an hour before, job 3 waits, too.
    ahead, said = starts(allot, pend, "--cluster", "1x4", "--at", "2026-10-05 01:15:00")
    assert said["now"] == 4500 and set(ahead) == {"2", "3"} and ahead["3"]["start"][2] <= 6300


def test_a_moment_after_the_export_is_refused(program, root):
    pend = root / "tests" / "data" / "cases" / "pend.txt"
    done = subprocess.run([program, "forecast", "--workload", pend, "--cluster", "1x4", "--at", "2026-10-05 09:00:00"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--at must not lie after the end of the record, 2026-10-05 01:30:00" in done.stderr


SQUEUE = "JOBID|USER|PARTITION|STATE|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|NODES|REASON|TRES_ALLOC\n"


def test_what_squeue_prints_is_enough(allot, tmp_path):
    queue = tmp_path / "squeue.txt"
    queue.write_text(SQUEUE
                     + "1|ann|a|RUNNING|2026-09-01T00:00:00|2026-09-02T00:00:00|33-01:00:00|34-00:00:00|1|None|gres/gpu=4\n"
                     + "2|ann|a|RUNNING|2026-10-05T00:00:00|2026-10-05T00:30:00|30:00|3:00:00|1|None|gres/gpu=2\n"
                     + "3_[1-2%1]|bob|a|PENDING|2026-10-05T00:50:00|N/A|0:00|UNLIMITED|1|Resources|gres/gpu=4\n"
                     + "4|cat|a|PENDING|2026-10-05T00:55:00|N/A|0:00|10:00|1|Priority|gres/gpu=2\n"
                     + "5|cat|a|PENDING|2026-10-05T00:55:00|N/A|0:00|10:00|1|JobHeldUser|gres/gpu=2\n")
    ahead, said = starts(allot, queue, "--cluster", "2x4")
    assert said["now"] == 34 * 86400 + 3600
    assert set(ahead) == {"1", "2", "3_1", "3_2", "4"}
    assert ahead["4"]["start"] == [0, 0, 0], "backfilled: it ends before job 3 could start"
    assert ahead["1"]["end"][2] <= 23 * 3600
    assert ahead["3_1"]["start"][2] <= 23 * 3600 + 300
    assert ahead["3_1"]["start"][1] >= min(ahead["1"]["end"][0], ahead["2"]["end"][0])


def test_jobs_that_run_where_no_nodes_are_left_are_left_out(allot, tmp_path):
    queue = tmp_path / "squeue.txt"
    queue.write_text(SQUEUE
                     + "1|ann|a|RUNNING|2026-10-05T00:00:00|2026-10-05T00:00:00|1:00:00|UNLIMITED|1|None|gres/gpu=4\n"
                     + "2|ann|a|RUNNING|2026-10-05T00:00:00|2026-10-05T00:00:00|1:00:00|2:00:00|1|None|gres/gpu=4\n"
                     + "3|bob|a|PENDING|2026-10-05T00:50:00|N/A|0:00|1:00:00|1|Resources|gres/gpu=4\n")
    done = allot("forecast", "--workload", queue, "--cluster", "1x4")
    assert "1 running job (4 GPUs) left out: no room on this cluster" in done.stderr
    assert "no further jobs arrive" in done.stderr


def test_lengths_and_limits_of_jobs_that_ended_are_learned(allot, tmp_path):
    # Sixty jobs took a tenth of their limit; the one that runs has taken as little so far.
    head = "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|Timelimit|ReqTRES|AllocTRES\n"
    rows = [f"{i}|ann|a|COMPLETED|2026-10-0{1 + i // 20}T{i % 20:02}:00:00|2026-10-0{1 + i // 20}T{i % 20:02}:00:00|Unknown|2160|06:00:00|"
            "gres/gpu=4|gres/gpu=4" for i in range(60)]
    rows += ["90|ann|a|RUNNING|2026-10-04T00:00:00|2026-10-04T00:00:00|Unknown|60|06:00:00|gres/gpu=4|gres/gpu=4",
             "91|ann|a|PENDING|2026-10-04T00:00:30|Unknown|Unknown|0|06:00:00|gres/gpu=4|"]
    (tmp_path / "sacct.txt").write_text(head + "\n".join(rows) + "\n")
    ahead, _ = starts(allot, tmp_path / "sacct.txt", "--cluster", "1x4")
    assert 1200 < ahead["91"]["start"][1] < 3600


def test_squeue_with_a_history_of_sacct_learns_what_jobs_take_of_their_limits(allot, tmp_path):
    head = "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|Timelimit|ReqTRES|AllocTRES\n"
    rows = [f"{i}|ann|a|COMPLETED|2026-10-0{1 + i // 20}T{i % 20:02}:00:00|2026-10-0{1 + i // 20}T{i % 20:02}:00:00|Unknown|2160|06:00:00|"
            "gres/gpu=4|gres/gpu=4" for i in range(60)]
    (tmp_path / "sacct.txt").write_text(head + "\n".join(rows) + "\n")
    (tmp_path / "squeue.txt").write_text(
        SQUEUE
        + "90|ann|a|RUNNING|2026-10-05T00:00:00|2026-10-05T00:00:00|1:00|6:00:00|1|None|gres/gpu=4\n"
        + "91|ann|a|PENDING|2026-10-05T00:00:30|N/A|0:00|6:00:00|1|Resources|gres/gpu=4\n")
    alone, _ = starts(allot, tmp_path / "squeue.txt", "--cluster", "1x4")
    ahead, _ = starts(allot, tmp_path / "squeue.txt", "--cluster", "1x4", "--history", tmp_path / "sacct.txt")
    assert alone["91"]["start"][1] > 2 * 3600, "nothing is known but the limit"
    assert 1200 < ahead["91"]["start"][1] < 3600
