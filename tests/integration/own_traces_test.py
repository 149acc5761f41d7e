"""What simulations make of a user's own trace by default: sizes, moments of decisions, ends, demands, lengths."""

import json

import pytest

HEADER = "job_id,submit_s,gpus,duration_s\n"


@pytest.fixture
def cases(root):
    """Small inputs whose right answers were worked out by hand."""
    return root / "tests" / "data" / "cases"


@pytest.fixture
def jct(allot, tmp_path):
    """jct(*world) is the average completion time by policy of a comparison."""

    def run(*arguments):
        allot("compare", *arguments, "--out", "runs", "--quiet")
        evaluation = json.loads((tmp_path / "runs" / "evaluation.json").read_text())
        return {policy["id"]: policy["runs"][0]["avg_jct_s"] for policy in evaluation["policies"]}

    return run


# ---- sizes ----


@pytest.mark.parametrize("more", [[], ["--rigid"], ["--interval", "300"], ["--profile", "event"]])
def test_jobs_without_a_model_keep_their_size(jct, cases, more):
    """Four jobs of 4 GPUs and an hour on 4 GPUs: 1, 2, 3 and 4 hours, whatever min_gpus says."""
    got = jct("-w", cases / "minmax.csv", "--cluster", "1x4", "--policies", "fifo,index,optimus,drf,srtf:sizing=hull", *more)
    assert got == pytest.approx(dict.fromkeys(got, 9000), abs=200)
    if "--interval" not in more:
        assert got["fifo"] == got["index"] == 9000


def test_unknown_speeds_are_told_beside_the_result(allot, cases):
    note = "4 of 4 jobs may have other numbers of GPUs by their trace (min_gpus, max_gpus), but name no throughput model"
    world = ["-w", cases / "minmax.csv", "--cluster", "1x4"]
    assert note in allot("compare", *world, "--policies", "fifo,index").stdout
    assert note in allot("simulate", *world).stdout
    assert json.loads(allot("simulate", *world, "--json").stdout)["fixed_sizes"] == 4
    assert "throughput model" not in allot("compare", *world, "--policies", "fifo,index", "--rigid").stdout
    for name in ("minmax.csv", "k8sel.json"):
        said = allot("whatif", "-w", cases / name, "--cluster", "1x4")
        assert "their speed there is unknown, so they keep the size that they ask for" in said.stdout, name
    drawn = allot("compare", *world, "--policies", "fifo,index", "--elastic").stdout
    assert "unknown" not in drawn
    assert "drawn at random for 4 of 4 jobs" in drawn


def test_converting_a_trace_keeps_what_it_says_of_sizes(allot, cases, tmp_path):
    allot("trace", "convert", cases / "minmax.csv", "--cluster", "1x4", "-o", "copy.csv")
    assert "a,0,4,3600,1,4" in (tmp_path / "copy.csv").read_text()


def test_elastic_jobs_of_kubernetes_keep_their_size(allot, cases):
    """Four jobs of 4 GPUs and an hour at once: a GPU each would be done in an hour if speed did not depend on size."""
    what_if = json.loads(allot("whatif", "-w", cases / "k8sel.json", "--cluster", "1x4", "--more-nodes", "0", "--json").stdout)
    waits = {scene["policy"]: scene["avg_jct_s"] for scene in what_if["scenes"] if scene["kind"] in ("present", "policy")}
    assert waits["index"] == waits["fifo"] == 9000


def test_rigid_means_the_size_that_is_asked_for_with_a_model_too(jct, tmp_path):
    trace = tmp_path / "models.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s,min_gpus,max_gpus,model\n"
                     + "".join(f"{name},0,4,3600,1,4,resnet50:64\n" for name in "abcd"))
    world = ["-w", trace, "--cluster", "1x4:v100", "--policies", "index"]
    assert jct(*world, "--rigid") == pytest.approx({"index": 9000})
    assert jct(*world)["index"] != 9000


# ---- moments of decisions ----


def test_own_traces_are_decided_at_events(allot, jct, cases):
    """Three jobs of a minute on an idle GPU take a minute each."""
    world = ["-w", cases / "idle.csv", "--cluster", "1x4"]
    assert jct(*world, "--policies", "fifo,las,index") == pytest.approx({"fifo": 60, "las": 60, "index": 60})
    assert json.loads(allot("simulate", *world, "--json").stdout)["avg_jct_s"] == pytest.approx(60)
    assert "Decisions every" not in allot("simulate", *world).stdout


@pytest.mark.parametrize("given", [["--interval", "300"], ["--interval", "5m"], ["--profile", "default"]])
def test_a_given_interval_or_profile_wins(jct, cases, given):
    assert jct("-w", cases / "idle.csv", "--cluster", "1x4", "--policies", "fifo", *given) == pytest.approx({"fifo": 159.67}, abs=0.1)


def test_worlds_with_an_interval_say_so(allot, cases):
    line = "Decisions every 5m 00s: jobs wait for the next one.\n"
    own = ["-w", cases / "idle.csv", "--cluster", "1x4"]
    assert allot("simulate", *own, "--profile", "default").stdout.startswith(line)
    law = ["-w", "law:philly", "--jobs", "20", "--cluster", "16x8"]
    assert allot("compare", *law, "--policies", "fifo,las").stdout.startswith(line)
    assert "Decisions every 1m 00s" in allot("simulate", *own, "--interval", "60").stdout
    assert "Decisions" not in allot("simulate", *law, "--profile", "event").stdout


def test_sweeps_decide_own_traces_at_events(allot, cases, tmp_path):
    (tmp_path / "study.toml").write_text(
        f'workload = "{cases / "idle.csv"}"\npolicies = ["fifo"]\nclusters = "1x4"\n')
    allot("sweep", "study.toml", "--out", "swept")
    rows = (tmp_path / "swept" / "cells.csv").read_text().splitlines()
    cell = dict(zip(rows[0].split(","), rows[1].split(",")))
    assert float(cell["avg_jct_s"]) == pytest.approx(60)


# ---- ends ----


def test_an_end_that_rounding_makes_late_is_no_reason_to_stop(allot, cases, tmp_path):
    """0.1 + 0.2 is 0.3: job a is over when b comes, and is not stopped for the rest of 5e-17 s."""
    allot("simulate", "-w", cases / "bug-17.csv", "--cluster", "1x1", "--rigid", "--policy", "las", "--profile", "event",
          "--restart-cost", "60", "--out", "run")
    rows = (tmp_path / "run" / "jobs.csv").read_text().splitlines()
    a = dict(zip(rows[0].split(","), rows[1].split(",")))
    assert float(a["finish_s"]) == pytest.approx(0.3, rel=1e-12)
    assert a["preemptions"] == "0"


def test_a_thousand_jobs_back_to_back_never_stop_one_another(allot, tmp_path):
    (tmp_path / "row.csv").write_text(HEADER + "".join(f"j{k},{k / 10:.1f},1,0.1\n" for k in range(1000)))
    summary = json.loads(allot("simulate", "-w", "row.csv", "--cluster", "1x1", "--policy", "las", "--restart-cost", "60", "--json").stdout)
    assert summary["avg_jct_s"] == pytest.approx(0.1)


# ---- host memory and CPUs ----

MEMORY = ("job 'a' asks for 1 GPU with 500 GB of host memory each", "have up to 100 GB of host memory and hold 0 such GPUs", "mem.csv:2")


@pytest.mark.parametrize("command", [["compare", "--policies", "fifo"], ["simulate"]])
def test_a_job_with_more_memory_than_any_node_is_bad_data(allot, cases, command):
    said = allot(*command, "-w", cases / "mem.csv", "--cluster", "2x4x32x100", exit=3).stderr
    for part in (*MEMORY, "--oversized drop"):
        assert part in said
    assert "policy" not in said


def test_jobs_with_too_much_memory_are_dropped_and_counted(allot, cases):
    world = ["-w", cases / "mem.csv", "--cluster", "2x4x32x100"]
    done = allot("simulate", *world, "--oversized", "drop", "--json")
    assert json.loads(done.stdout)["jobs"] == 1
    reason = "asks for more host memory or CPUs than the nodes of the cluster have"
    assert reason in done.stderr
    said = allot("whatif", *world)
    assert "1 of 2 jobs of the trace, with 0.03 of 0.06 GPU-hours, are not in these figures" in said.stdout
    assert reason in said.stdout


def test_cpus_limit_where_trace_and_cluster_name_them(jct, allot, tmp_path):
    """Two jobs of an hour, each a GPU and 20 CPUs: nodes of 32 CPUs hold one at a time, two of such nodes both."""
    (tmp_path / "cpus.csv").write_text("job_id,submit_s,gpus,duration_s,cpus\na,0,1,3600,20\nb,0,1,3600,20\n")
    world = ["-w", "cpus.csv", "--policies", "fifo"]
    assert jct(*world, "--cluster", "1x4x32") == {"fifo": 5400}
    assert jct(*world, "--cluster", "2x4x32") == {"fifo": 3600}
    assert jct(*world, "--cluster", "1x4") == {"fifo": 3600}, "the CPUs are not known"
    said = allot("compare", *world, "--cluster", "4x4x16", exit=3).stderr
    assert "job 'a' asks for 1 GPU with 20 CPUs each" in said
    assert "have up to 16 CPUs and hold 0 such GPUs" in said


def test_cpus_of_slurm_count(jct, tmp_path):
    (tmp_path / "sacct.txt").write_text(
        "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|AllocTRES\n" + "".join(
            f"{k}|u|p|COMPLETED|2026-10-05T00:00:00|2026-10-05T00:00:00|2026-10-05T01:00:00|3600|cpu=20,gres/gpu=1\n" for k in (1, 2)))
    assert jct("-w", "sacct.txt", "--cluster", "1x4x32", "--policies", "fifo") == {"fifo": 5400}
    assert jct("-w", "sacct.txt", "--cluster", "1x4", "--policies", "fifo") == {"fifo": 3600}


def test_clipping_keeps_what_each_gpu_asks_for(allot, tmp_path):
    (tmp_path / "big.csv").write_text("job_id,submit_s,gpus,duration_s,memory_gb\na,0,8,3600,400\n")
    world = ["-w", "big.csv", "--cluster", "1x8x64x200", "--oversized", "clip", "--json"]
    assert json.loads(allot("simulate", *world).stdout)["avg_jct_s"] == 7200, "four of eight GPUs of 50 GB fit"


def test_a_node_that_never_comes_back_is_named_not_the_policy(allot, tmp_path):
    (tmp_path / "jobs.csv").write_text(HEADER + "a,0,4,3600\n")
    (tmp_path / "events.csv").write_text("time_s,node,event\n600,0,down\n")
    said = allot("simulate", "-w", "jobs.csv", "--cluster", "1x4", "--node-events", "events.csv", exit=3).stderr
    assert "1 job can never run: the first of them, 'a', asks for 4 GPUs, the cluster is 1x0 (0 of 1 nodes, the others do not come back)" in said
    assert "policy" not in said.splitlines()[-1]


# ---- lengths ----


def test_a_run_time_above_ten_years_is_told_and_ends(allot, cases):
    """Policies that go by time were asked 3e8 times."""
    for command in (["whatif", "--more-nodes", "0"], ["compare", "--policies", "las,easy,index"]):
        done = allot(*command, "-w", cases / "big.csv", "--cluster", "1x1", timeout=120)
        assert "run times above ten years: 1 of 2 jobs, the first 'a' with 90000000000 s" in done.stderr
    assert "big.csv:2" in allot("trace", "inspect", cases / "big.csv").stdout


# ---- laws and names ----


def test_jobs_of_a_law_that_do_not_fit_are_left_out(allot):
    done = allot("simulate", "-w", "law:philly", "--jobs", "4000", "--cluster", "2x8", "--json")
    assert json.loads(done.stdout)["jobs"] < 4000
    assert "asks for more GPUs than the cluster has" in done.stderr


def test_no_policy_is_no_comparison(allot, cases):
    said = allot("compare", "-w", cases / "idle.csv", "--policies", "", exit=2).stderr
    assert "a name is missing, got ''" in said


# ---- what is said beside the figures ----

LIMITED = "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES\n" + "".join(
    f"{i}|ann|a|COMPLETED|2026-10-01T00:0{i}:00|2026-10-01T00:0{i}:00|2026-10-01T01:00:00|{3600 - 60 * i}|120|gres/gpu=2\n"
    for i in range(4))
UNENDED = (LIMITED + "8|bob|a|RUNNING|2026-10-01T00:30:00|2026-10-01T00:30:00|Unknown|1800|120|gres/gpu=2\n"
           + "9|bob|a|PENDING|2026-10-01T00:40:00|Unknown|Unknown|0|120|gres/gpu=2\n")


def test_tables_say_which_lengths_policies_get(allot, tmp_path):
    (tmp_path / "t.txt").write_text(LIMITED)
    world = ["t.txt", "--cluster", "1x4"]
    said = allot("compare", *world, "--policies", "fifo,srtf,sjf").stdout
    assert ("Job lengths that srtf and sjf get: the true lengths with a random error (noisy:0.5); not the time limits "
            "that 4 of 4 jobs have (--length-estimates user).") in said
    said = allot("compare", *world, "--policies", "fifo,srtf", "--length-estimates", "user").stdout
    assert "Job lengths that srtf gets: the users' time limits (user)." in said
    assert "Job lengths" not in allot("compare", *world, "--policies", "fifo,las").stdout
    assert "Job lengths that srtf gets: none." in allot(
        "simulate", *world, "--policy", "srtf", "--length-estimates", "none").stdout


def test_time_limits_that_no_job_has_are_a_warning(allot, cases):
    world = ["-w", cases / "idle.csv", "--cluster", "1x8", "--length-estimates", "user"]
    for command in (["compare", "--policies", "fifo,srtf"], ["simulate"], ["whatif"]):
        assert "warning: --length-estimates user: no job of" in allot(*command, *world).stderr, command
    assert "got estimates (true)" not in allot("whatif", *world[:-1], "true").stdout


def test_results_name_jobs_that_had_not_ended(allot, tmp_path):
    (tmp_path / "t.txt").write_text(UNENDED)
    (tmp_path / "nodes.txt").write_text("NODELIST GRES CPUS MEMORY STATE\nn1 gpu:4 8 1000 idle\nn2 gpu:4 8 1000 down\n")
    said = allot("compare", "t.txt", "--cluster", "nodes.txt", "--policies", "fifo,easy", "--out", "r").stdout
    note = "2 of 6 jobs had not ended when the record was taken (1 running, 1 pending)"
    assert note in said
    rows = (tmp_path / "r" / "fifo" / "jobs.csv").read_text().splitlines()
    assert rows[0].endswith(",tenant,user,outcome")
    assert [row.rsplit(",", 1)[1] for row in rows[1:]] == ["ended"] * 4 + ["running", "pending"]
    evaluation = json.loads((tmp_path / "r" / "evaluation.json").read_text())
    assert (evaluation["workloads"][0]["running"], evaluation["workloads"][0]["pending"]) == (1, 1)
    assert evaluation["cluster_read"]["dropped"][0]["rows"] == 1
    allot("report", "r", "--out", "r.html")
    page = (tmp_path / "r.html").read_text()
    assert note in page and "Entries of the node list that are left out: " in page
    (tmp_path / "t.txt").write_text(LIMITED)
    allot("simulate", "t.txt", "--cluster", "1x4", "--out", "one")
    assert (tmp_path / "one" / "jobs.csv").read_text().splitlines()[0].endswith(",tenant,user")


def test_reports_name_records_that_are_left_out(allot, tmp_path):
    (tmp_path / "t.txt").write_text(LIMITED + "7|ann|a|COMPLETED|2026-10-01T00:00:00|2026-10-01T00:00:00|"
                                    "2026-10-01T01:00:00|3600|120|cpu=1\n")
    allot("compare", "t.txt", "--cluster", "1x4", "--policies", "fifo,easy", "--out", "r")
    allot("report", "r", "--out", "r.html")
    assert "Records of the trace that are left out: no GPU requested (1)." in (tmp_path / "r.html").read_text()


def test_a_forecast_in_json_says_what_it_lacks(allot, tmp_path):
    (tmp_path / "t.txt").write_text(UNENDED + "7|ann|a|COMPLETED|2026-10-01T00:00:00|2026-10-01T00:00:00|"
                                    "2026-10-01T01:00:00|3600|120|cpu=1\n")
    found = json.loads(allot("forecast", "t.txt", "--cluster", "1x4", "--json").stdout)
    assert found["history"] is False
    assert found["read"]["dropped"] == [{"reason": "no GPU requested", "rows": 1, "first": "t.txt:8"}]
    assert any("1 of 6 jobs still ran" in note for note in found["read"]["notes"])


def test_events_of_unknown_nodes_name_file_and_line(allot, cases, tmp_path):
    (tmp_path / "events.csv").write_text("time_s,node,event\n500,7,down\n")
    said = allot("simulate", "-w", cases / "idle.csv", "--cluster", "2x4", "--node-events", "events.csv", exit=3).stderr
    assert "events.csv:2: 'node' must be one of the 2 nodes of the cluster, from 0 to 1, got 7" in said


def test_guarantees_without_effect_or_room_are_named(allot, cases, tmp_path):
    rules = tmp_path / "rules.toml"
    world = ["simulate", "-w", cases / "idle.csv", "--cluster", "1x8", "--rules", "rules.toml"]
    rules.write_text('[[guarantees]]\naccount = "nobody"\ngpus = 4\n')
    assert "rules.toml: no job of" in (said := allot(*world).stderr) and "account 'nobody'" in said
    rules.write_text('[[guarantees]]\naccount = "nobody"\ngpus = 99\n')
    said = allot(*world, exit=2).stderr
    assert "rules.toml: guarantees must not be more than the cluster has, got 99 GPUs of 8 with that of account 'nobody'" in said


def test_a_note_says_that_a_million_jobs_at_events_take_long(allot, tmp_path):
    with open(tmp_path / "jobs.csv", "w") as jobs:
        jobs.write("job_id,submit_s,gpus,duration_s\n")
        jobs.writelines(f"{i},{10 * i},1,5\n" for i in range(1_000_000))
    words = ["simulate", "--workload", "jobs.csv", "--cluster", "8x8", "--policy", "fifo"]
    assert "note: 1 000 000 jobs are decided at every arrival and completion" in allot(*words).stderr
    assert "at every arrival and completion" not in allot(*words, "--interval", "5m").stderr
