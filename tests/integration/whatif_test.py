"""allot whatif, and the exports that it begins with."""

import json
import re
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

EXPORTS = Path(__file__).parents[1] / "data" / "exports"
MONTH = str(EXPORTS / "sacct-month.txt")
NODES = str(EXPORTS / "sinfo.txt")


@pytest.fixture(scope="module")
def answer(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whatif")
    done = subprocess.run([program, "whatif", "--workload", MONTH, "--cluster", NODES, "--policies", "fifo,las",
                           "--more-nodes", "2", "--json", "-o", folder / "page.html", "--keep", folder / "runs"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout), done.stderr, folder


def scene(answer, title):
    return next(s for s in answer[0]["scenes"] if s["title"] == title)


def test_the_scenes_are_the_record_the_present_others_and_more_nodes(answer):
    kinds = [s["kind"] for s in answer[0]["scenes"]]
    assert kinds[:4] == ["recorded", "present", "policy", "policy"] and set(kinds[4:]) == {"nodes"}
    assert answer[0]["cluster"] == "3x4x64x502:a100,2x4x40x375:v100"
    assert answer[0]["length_estimates"] == "user"


def test_the_record_is_what_the_file_says(answer):
    rows = [line.split("|") for line in Path(MONTH).read_text().splitlines()]
    at = rows[0].index
    waits = [(datetime.fromisoformat(r[at("Start")]) - datetime.fromisoformat(r[at("Submit")])).total_seconds()
             for r in rows[1:] if "gres/gpu" in r[at("AllocTRES")]]
    assert scene(answer, "recorded")["avg_wait_s"] == pytest.approx(sum(waits) / len(waits))
    assert scene(answer, "recorded")["max_wait_s"] == max(waits)


def test_fifo_with_backfill_is_near_to_the_record_that_it_made(answer):
    fifo = scene(answer, "fifo")["avg_wait_s"]
    assert fifo == pytest.approx(scene(answer, "recorded")["avg_wait_s"], rel=0.2)


def test_more_nodes_let_jobs_wait_less(answer):
    more = scene(answer, "easy, 2 more nodes")
    assert more["avg_wait_s"] < scene(answer, "now (easy)")["avg_wait_s"]
    assert more["cluster"].endswith(",2x4x64x502:a100")


def test_users_and_partitions_make_up_all_jobs(answer):
    for groups in (answer[0]["users"], answer[0]["partitions"]):
        assert sum(group["jobs"] for group in groups) == answer[0]["jobs"] == 250
        for group in groups:
            assert len(group["avg_wait_s"]) == len(answer[0]["scenes"])
        mean = sum(group["jobs"] * group["avg_wait_s"][0] for group in groups) / 250
        assert mean == pytest.approx(scene(answer, "recorded")["avg_wait_s"])
    assert {group["name"] for group in answer[0]["partitions"]} == {"a100", "v100"}


def test_what_was_left_out_is_told(answer):
    assert "67 of 317 records" in answer[1] and "no GPU requested" in answer[1]
    assert "a node where nothing can start: drain" in answer[1]
    assert answer[0]["read"]["dropped"][0]["rows"] == 67
    assert any("Elastic jobs are not shown" in note for note in answer[0]["notes"])


def test_the_page_has_the_findings_and_the_tables(answer):
    page = (answer[2] / "page.html").read_text()
    for part in ("What if: sacct-month.txt</h1>", "What would change", "How long each user waits", "Jobs waited",
                 "allot whatif --workload"):
        assert part in page, part
    for world in ("present", "more-nodes"):
        assert (answer[2] / "runs" / world / "evaluation.json").is_file()


def test_elastic_jobs_are_said_to_be_drawn(allot, tmp_path):
    done = allot("whatif", "--workload", MONTH, "--cluster", "5x4", "--policies", "fifo", "--more-nodes", "0",
                 "--elastic", "--json", "-o", str(tmp_path / "p.html"))
    found = json.loads(done.stdout)
    assert [s["kind"] for s in found["scenes"]][:2] == ["recorded", "present"]
    assert "elastic" in {s["kind"] for s in found["scenes"]}
    assert any("drawn at random" in note for note in found["notes"])


def test_elastic_jobs_without_speeds_on_their_types_are_left_out_with_advice(allot, tmp_path):
    words = ["whatif", "--workload", MONTH, "--cluster", NODES, "--policies", "fifo", "--more-nodes", "0", "--elastic",
             "--json", "-o", str(tmp_path / "p.html")]
    found = json.loads(allot(*words).stdout)
    assert [s["kind"] for s in found["scenes"]] == ["recorded", "present", "policy"]
    assert any("the catalogue knows" in note and "--catalogue power-laws" in note for note in found["notes"])
    found = json.loads(allot(*words, "--catalogue", "power-laws").stdout)
    assert "elastic" in {s["kind"] for s in found["scenes"]}


def test_a_trace_without_starts_has_no_record(allot, tmp_path):
    trace = tmp_path / "t.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s\na,0,1,600\nb,1,1,600\n")
    done = allot("whatif", "--workload", str(trace), "--cluster", "1x1", "-o", str(tmp_path / "p.html"))
    assert "recorded" not in done.stdout.split("note:")[0]
    assert "does not tell when jobs started" in done.stdout
    assert "no time limits" in done.stdout


@pytest.mark.parametrize("words, said", [
    (["--more-nodes", "0x8"], ["number of nodes", "0x8"]),
    (["--more-nodes=-3"], ["--more-nodes", "-3"]),
    (["--target-wait=-5"], ["--target-wait must be a time of at least 0 s", "-5"]),
    (["--present", "slurmm"], ["unknown policy 'slurmm'"]),
    (["--present", "fifo,easy"], ["--present must be one policy", "got 2", "fifo,easy"]),
    (["--workloads", "3"], ["unknown option '--workloads'"]),
    (["-o", ""], ["must not be empty"]),
    (["-o", "."], ["the result is a file", "'.' is a folder"]),
    (["--from", "2026-02-30"], ["that exist", "2026-02-30"]),
    (["no cluster"], ["whatif needs --cluster", "sinfo -N -o", "kubectl get nodes"]),
])
def test_faults_are_told(allot, tmp_path, words, said):
    cluster = [] if "no cluster" in words else ["--cluster", NODES]
    words = [word for word in words if word != "no cluster"]
    out = [] if "-o" in words else ["-o", str(tmp_path / "p.html")]
    done = allot("whatif", "--workload", MONTH, *cluster, *words, *out, exit=2)
    for part in said:
        assert part in done.stderr


def test_nodes_that_no_job_accepts_are_told(allot, tmp_path):
    words = ["whatif", "--workload", MONTH, "--cluster", NODES, "--policies", "fifo", "--more-nodes", "2x8:b300",
             "--catalogue", "power-laws", "-o", str(tmp_path / "p.html")]
    assert "No job accepts GPUs of type 'b300'" in allot(*words).stdout


def test_estimates_that_are_asked_for_do_not_hide_time_limits(allot, tmp_path):
    done = allot("whatif", "--workload", MONTH, "--cluster", NODES, "--policies", "fifo", "--more-nodes", "0",
                 "--length-estimates", "true", "-o", str(tmp_path / "p.html"))
    assert "no time limits" not in done.stdout


def test_inspect_names_the_command_for_missing_columns(allot, tmp_path):
    trace = tmp_path / "sacct.txt"
    trace.write_text("JobID|State|Submit|ElapsedRaw|AllocTRES\n1|COMPLETED|2026-03-01T10:00:00|60|gres/gpu=3\n")
    said = allot("trace", "inspect", str(trace)).stdout
    assert "no column Start" in said and "sacct --allusers --allocations --parsable2" in said
    assert said.splitlines()[0].split()[1] == "sacct.txt"


def test_the_commands_of_the_page_work(allot, root, tmp_path):
    """Those of docs/your-trace.md for Slurm and Kubernetes, on exports of ours under the names that it uses."""
    for name, export in [("sacct.txt", "sacct-month.txt"), ("sinfo.txt", "sinfo.txt"), ("jobs.json", "kubernetes.json"),
                         ("nodes.json", "nodes.json")]:
        (tmp_path / name).write_bytes((EXPORTS / export).read_bytes())
    # The invented month is over; an export of now has jobs that run and wait.
    lines = (tmp_path / "sacct.txt").read_text().splitlines()
    last = dict(zip(lines[0].split("|"), next(line for line in reversed(lines) if "gres/gpu" in line).split("|")))
    now = [last | {"JobID": "900001", "State": "RUNNING", "End": "Unknown", "ElapsedRaw": "600"},
           last | {"JobID": "900002", "State": "PENDING", "Start": "Unknown", "End": "Unknown", "ElapsedRaw": "0", "AllocTRES": ""}]
    (tmp_path / "sacct.txt").write_text("\n".join(lines + ["|".join(row.values()) for row in now]) + "\n")
    page = (root / "docs" / "your-trace.md").read_text()
    commands = [line.split()[1:] for part in re.findall(r"^## (?:Slurm|Kubernetes)\n(.*?)(?=^## )", page, re.DOTALL | re.MULTILINE)
                for line in part.splitlines() if line.startswith("allot ")]
    assert len(commands) == 4
    for command in commands:
        allot(*command)


def test_jobs_that_the_nodes_of_today_have_no_room_for_are_counted(allot, tmp_path):
    nodes = "\n".join(Path(NODES).read_text().splitlines()[:2]) + "\n"  # one node is left
    (tmp_path / "sinfo.txt").write_text(nodes)
    done = allot("whatif", "--workload", MONTH, "--cluster", str(tmp_path / "sinfo.txt"), "--policies", "fifo", "--more-nodes", "0",
                 "-o", str(tmp_path / "page.html"))
    assert "--oversized drop" in done.stderr


def test_jobs_without_a_time_limit_are_the_longest_and_are_counted(allot, root, tmp_path):
    done = allot("whatif", "--workload", root / "tests" / "data" / "cases" / "mixlim.txt", "--cluster", "1x4", "--json",
                 "-o", tmp_path / "p.html")
    found = json.loads(done.stdout)
    sjf = next(s for s in found["scenes"] if s["title"] == "sjf")
    assert sjf["avg_wait_s"] == pytest.approx(2000)
    assert any("1 of 3 jobs has no time limit" in note for note in found["notes"])
    assert not any("ran beyond" in note for note in found["notes"])


def test_jobs_that_outlived_their_limits_are_counted(allot, tmp_path):
    trace = tmp_path / "t.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s,user_estimate_s\na,0,1,600,100\nb,1,1,600,300\nc,2,1,60,300\nd,3,1,60,\n")
    assert "3 of 4 jobs have a time limit, 2 ran beyond it" in allot("trace", "inspect", trace).stdout
    said = allot("whatif", "--workload", trace, "--cluster", "1x1", "-o", tmp_path / "p.html").stdout
    assert "1 of 4 jobs has no time limit" in said and "2 of 3 jobs with a time limit ran beyond it" in said


def asked(allot, tmp_path, trace, *words):
    """Of a trace, given as a path or as text: the answer in JSON."""
    if isinstance(trace, str):
        (tmp_path / "trace.txt").write_text(trace)
        trace = tmp_path / "trace.txt"
    done = allot("whatif", "--workload", trace, "--more-nodes", "0", "--json", "-o", tmp_path / "p.html", *words)
    return json.loads(done.stdout)


def test_a_job_that_still_runs_holds_its_gpus(allot, root, tmp_path):
    found = asked(allot, tmp_path, root / "tests" / "data" / "cases" / "surv.txt", "--cluster", "1x4")
    scenes = {s["title"]: s for s in found["scenes"]}
    assert found["jobs"] == 12 and found["running"] == 1 and found["pending"] == 0
    assert found["gpu_hours"] == pytest.approx(607.3, abs=0.1)
    assert found["most_gpus_at_once"] == 4
    assert scenes["now (easy)"]["avg_wait_s"] == pytest.approx(scenes["recorded"]["avg_wait_s"], rel=0.05)
    # Of the eleven that ended; the twelfth has no completion time.
    assert scenes["recorded"]["avg_jct_s"] == pytest.approx(scenes["now (easy)"]["avg_jct_s"], rel=0.05)
    assert scenes["recorded"]["avg_jct_s"] < 10 * 3600
    assert any("1 of 12 jobs still ran when the record was taken" in note for note in found["notes"])


SACCT = "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|Timelimit|ReqTRES|AllocTRES\n"


def test_a_job_of_before_the_record_holds_its_gpus_from_its_beginning(allot, tmp_path):
    # Two of four GPUs are held by a job of August; two jobs of two GPUs take turns on the others.
    found = asked(allot, tmp_path, SACCT
                  + "1|ann|a|RUNNING|2026-08-01T00:00:00|2026-08-02T00:00:00|Unknown|5270400|UNLIMITED|gres/gpu=2|gres/gpu=2\n"
                  + "2|bob|a|COMPLETED|2026-10-01T00:00:00|2026-10-01T00:00:00|2026-10-01T04:00:00|14400|UNLIMITED|gres/gpu=2|gres/gpu=2\n"
                  + "3|bob|a|COMPLETED|2026-10-01T01:00:00|2026-10-01T04:00:00|2026-10-01T08:00:00|14400|UNLIMITED|gres/gpu=2|gres/gpu=2\n",
                  "--cluster", "1x4", "--policies", "fifo")
    assert found["origin"] == "2026-10-01 00:00:00" and found["span_s"] == 3600
    scenes = {s["title"]: s for s in found["scenes"]}
    for title in ("now (easy)", "fifo"):
        assert scenes[title]["max_wait_s"] == pytest.approx(3 * 3600)
        assert scenes[title]["avg_jct_s"] == pytest.approx(5.5 * 3600)


def test_jobs_that_wait_at_the_end_are_in_no_mean(allot, tmp_path):
    found = asked(allot, tmp_path, SACCT
                  + "1|ann|a|COMPLETED|2026-10-01T00:00:00|2026-10-01T00:00:00|2026-10-01T01:00:00|3600|02:00:00|gres/gpu=4|gres/gpu=4\n"
                  + "2|ann|a|RUNNING|2026-10-01T01:00:00|2026-10-01T01:00:00|Unknown|3600|05:00:00|gres/gpu=4|gres/gpu=4\n"
                  + "3_[1-4%2]|bob|a|PENDING|2026-10-01T01:10:00|Unknown|Unknown|0|01:00:00|gres/gpu=4|\n",
                  "--cluster", "1x4", "--policies", "fifo")
    assert (found["jobs"], found["running"], found["pending"]) == (6, 1, 4)
    for one in found["scenes"]:
        assert one["jobs"] == 2 and one["avg_wait_s"] == 0 and one["avg_jct_s"] == 3600
    assert any("4 of 6 jobs still waited" in note for note in found["notes"])


def test_what_is_left_out_is_told_by_gpu_hours(allot, tmp_path):
    rows = (SACCT
            + "1|ann|a|NODE_FAIL|2026-10-01T00:00:00|2026-10-01T00:00:00|2026-10-02T00:00:00|86400|3-00:00:00|gres/gpu=4|gres/gpu=4\n"
            + "1|ann|a|COMPLETED|2026-10-01T00:00:00|2026-10-02T00:00:00|2026-10-02T01:00:00|3600|3-00:00:00|gres/gpu=4|gres/gpu=4\n"
            + "2|bob|a|COMPLETED|2026-10-01T01:00:00|2026-10-02T01:00:00|2026-10-02T02:00:00|3600|3-00:00:00|gres/gpu=4|gres/gpu=4\n"
            + "3|bob|a|COMPLETED|2026-10-01T02:00:00|2026-10-02T01:00:00|2026-10-02T02:00:00|3600|3-00:00:00|gres/gpu=8|gres/gpu=8\n"
            + "4|bob|a|COMPLETED|2026-10-01T01:00:00|2026-10-02T01:00:00|2026-10-02T02:00:00|3600|3-00:00:00|cpu=1|cpu=1\n")
    found = asked(allot, tmp_path, rows, "--cluster", "1x4", "--policies", "fifo")
    far = next(finding for finding in found["findings"] if "far from the record" in finding)
    assert far.index("104 of 112 GPU-hours of the file are left out") < far.index("partitions"), far
    assert "an earlier run of a requeued" in far
    assert "The record held 12 GPUs at once, this cluster has 4." in found["findings"]
    left_out = next(note for note in found["notes"] if note.startswith("Records of the trace"))
    assert left_out.index("96.0 GPU-hours") < left_out.index("8.0 GPU-hours") < left_out.index("no GPU requested")
    said = allot("trace", "inspect", tmp_path / "trace.txt").stdout
    assert "an earlier run of a requeued or resized job, 96.0 GPU-hours" in said
    assert "all jobs together held 12 at most" in said


def test_a_limit_that_is_outlived_does_not_end_a_running_job(allot, tmp_path):
    found = asked(allot, tmp_path, SACCT
                  + "1|ann|a|COMPLETED|2026-10-01T00:00:00|2026-10-01T00:00:00|2026-10-01T01:00:00|3600|01:00:00|gres/gpu=1|gres/gpu=1\n"
                  + "2|ann|a|RUNNING|2026-10-01T00:00:00|2026-10-01T00:00:00|Unknown|90000|01:00:00|gres/gpu=4|gres/gpu=4\n"
                  + "3|bob|a|RUNNING|2026-10-01T00:00:00|2026-10-01T00:00:00|Unknown|90000|UNLIMITED|gres/gpu=3|gres/gpu=3\n",
                  "--cluster", "2x4", "--policies", "fifo,srtf")
    assert found["running"] == 2 and found["most_gpus_at_once"] == 8
    assert any("1 of 2 jobs with a time limit ran beyond it" in note for note in found["notes"])


SQUEUE = "JOBID|USER|PARTITION|STATE|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|NODES|REASON|TRES_ALLOC\n"


def test_a_record_in_which_no_job_ended_is_compared_with_nothing(allot, tmp_path):
    (tmp_path / "queue.txt").write_text(
        SQUEUE
        + "1|ann|gpu|RUNNING|2026-10-05T08:00:00|2026-10-05T08:00:00|2:00:00|3:00:00|1|None|cpu=8,gres/gpu=4\n"
        + "2|bob|gpu|PENDING|2026-10-05T08:10:00|N/A|0:00|1:00:00|1|Resources|cpu=8,gres/gpu=4\n")
    done = allot("whatif", "queue.txt", "--cluster", "2x4", "--length-estimates", "true")
    assert "No job of the record has ended: no run time is known" in done.stdout
    for wrong in ("far from the record", "Jobs waited", "changes nothing", "drawn from the jobs that ended"):
        assert wrong not in done.stdout, wrong
    assert "guessed from how long they have run and from their time limits" in done.stderr
    assert "from the others" not in done.stderr


JOBS = "job_id,submit_s,gpus,duration_s\n"
FAILING = JOBS + "a,0,4,1000\nb,0,4,1000\nc,100,2,400\nd,100,2,400\n"


def test_nodes_that_go_down_are_named_and_no_policy_is_blamed(allot, tmp_path):
    (tmp_path / "jobs.csv").write_text(FAILING)
    (tmp_path / "events.csv").write_text("time_s,node,event\n500,1,down\n800,1,up\n")
    world = ["jobs.csv", "--cluster", "2x4", "--node-events", "events.csv"]
    note = "Nodes go down by --node-events (2 events): their jobs are stopped, keep their work, and wait for GPUs."
    done = allot("whatif", *world)
    assert note in done.stdout
    (more,) = [line for line in done.stdout.splitlines() if line.startswith("The present policy with 1 more node")]
    assert "checkpoints" not in more
    assert note in (tmp_path / "whatif.html").read_text()
    assert note in allot("compare", *world, "--policies", "fifo,easy").stdout
    summary = json.loads(allot("simulate", *world, "--policy", "easy", "--json").stdout)
    assert (summary["preemptions"], summary["node_stops"]) == (1, 1)
    random = allot("simulate", "jobs.csv", "--cluster", "2x4", "--failures", "exponential:between=30d,repair=2h", "--checkpoints", "fixed:every=1h").stdout
    assert "by --failures exponential:between=30d,repair=2h (each once in 30d 00h on average)" in random
    assert "lose their work since the last checkpoint (--checkpoints fixed:every=1h)" in random
    (tmp_path / "rules.toml").write_text('[[maintenance]]\nnodes = "1"\nfrom = "500"\nto = "800"\n')
    rules = allot("simulate", "jobs.csv", "--cluster", "2x4", "--rules", "rules.toml").stdout
    assert "Nodes go down for maintenance by --rules (1 window)" in rules


def test_jobs_that_do_not_fit_are_named_with_both_values(allot, tmp_path):
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s,gpu_types\na,0,2,3600,a100\nb,10,8,7200,a100\n"
                                       "c,20,1,3600,p40\nd,30,1,3600,v100\n")
    done = allot("whatif", "jobs.csv", "--cluster", "1x4:a100,1x4:v100", "--policies", "fifo")
    assert "2 of 4 jobs of the trace, with 17.0 of 20.0 GPU-hours, are not in these figures" in done.stdout
    asked = "jobs.csv:3 asks for 8 GPUs of type 'a100', there are 4"
    assert f"1 asks for more GPUs or GPU memory than this cluster has (first: {asked})." in done.stdout
    assert asked in done.stderr


def test_a_job_that_only_more_nodes_have_room_for_is_named_there(allot, tmp_path):
    (tmp_path / "jobs.csv").write_text(JOBS + "a,0,4,1000\nb,0,4,1000\nc,100,9,400\n")
    done = allot("whatif", "jobs.csv", "--cluster", "2x4", "--json")
    found = json.loads(done.stdout)
    (more,) = [s for s in found["scenes"] if s["kind"] == "nodes"][:1]
    assert more["more_jobs"] == 1
    assert any("1 job that the present cluster has no room for then fits" in text for text in found["findings"])


def test_the_page_names_no_folder_that_is_gone(allot, tmp_path):
    (tmp_path / "jobs.csv").write_text(FAILING)
    allot("whatif", "jobs.csv", "--cluster", "2x4", "-o", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "allot-whatif-" not in page and "The policies on the present cluster</b>: made with allot" in page
    allot("whatif", "jobs.csv", "--cluster", "2x4", "-o", "page.html", "--keep", "kept")
    assert "kept/present/origin.json" in (tmp_path / "page.html").read_text()


def test_pages_and_json_name_the_nodes_that_are_left_out(answer):
    reasons = [drop["reason"] for drop in answer[0]["cluster_read"]["dropped"]]
    assert "a node where nothing can start: drain" in reasons
    note = "Entries of the node list that are left out: a node where nothing can start: drain (1);"
    assert any(text.startswith(note) for text in answer[0]["notes"])
    assert note in (answer[2] / "page.html").read_text()


def test_a_share_becomes_elastic_by_the_users_who_gain_most(allot, tmp_path):
    done = allot("whatif", "--workload", MONTH, "--cluster", NODES, "--policies", "index", "--more-nodes", "0", "--elastic",
                 "--catalogue", "power-laws", "--elastic-share", "5,60", "--json", "-o", tmp_path / "page.html")
    told = json.loads(done.stdout)
    first = told["elastic_first"]
    assert sum(user["gpu_share"] for user in first) >= 0.6 > sum(user["gpu_share"] for user in first[:-1])
    jct = {s["title"]: s["avg_jct_s"] for s in told["scenes"]}
    fixed = jct["index"]
    shares = {title: value for title, value in jct.items() if "% elastic" in title}
    one, all_of_them = shares
    assert one == f"index, {100 * first[0]['gpu_share']:.1f} % elastic (1 user)", "what was reached, not what was asked for"
    assert all_of_them.endswith(f"elastic ({len(first)} user{'s' * (len(first) > 1)})")
    assert fixed - shares[one] == pytest.approx(first[0]["saved_s"])


@pytest.mark.parametrize("words, rule", [
    (("--elastic-share", "10"), "--elastic-share needs speeds at other sizes"),
    (("--elastic", "--elastic-share", "50,10"), "ascending"),
])
def test_shares_that_cannot_be_are_refused(allot, tmp_path, words, rule):
    done = allot("whatif", "--workload", MONTH, "--cluster", NODES, *words, "-o", tmp_path / "page.html", exit=2)
    assert rule in done.stderr


def ask_with_conf(program, folder, text):
    conf = folder / "slurm.conf"
    conf.write_text(text)
    return subprocess.run([program, "whatif", "--workload", MONTH, "--cluster", NODES, "--present", f"mine=slurm:conf={conf}", "--policies",
                           "easy", "--interval", "30", "--more-nodes", "0", "--json", "-o", folder / "page.html"],
                          capture_output=True, text=True, check=False)


def test_slurm_conf_makes_the_present_scheduler(program, tmp_path):
    done = ask_with_conf(program, tmp_path, "PreemptType=preempt/qos\nPartitionName=a100 Nodes=n[01-03]\nPartitionName=v100 Nodes=n[04-06]\n")
    assert done.returncode == 0, done.stderr
    page = json.loads(done.stdout)
    assert "mine, not simulated: PreemptType=preempt/qos." in page["notes"]
    present = next(s for s in page["scenes"] if s["kind"] == "present")
    assert present["wait_rank_correlation"] > 0.5 and present["wait_error_s"] < 600  # the month is of FIFO with backfill
    assert any("Job by job, half of these waits are within" in finding for finding in page["findings"])
    assert "wait_error_s" not in next(s for s in page["scenes"] if s["kind"] == "recorded")
    assert "Job by job" in (tmp_path / "page.html").read_text()


def test_a_slurm_conf_that_is_wrong_is_named_with_its_line(program, tmp_path):
    done = ask_with_conf(program, tmp_path, "ClusterName=a\nPriorityWeightAge=-1\n")
    assert done.returncode == 3
    assert "'PriorityWeightAge' must be a number from 0" in done.stderr and "slurm.conf:2" in done.stderr
