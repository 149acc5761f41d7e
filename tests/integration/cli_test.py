"""The contract of the command line: options, files, exit codes and messages, of the program as built."""

import csv
import gzip
import json
import os
import random
import resource
import shutil
import signal
import subprocess

import h5py
import numpy
import pytest
from waiting import interrupted

JOB_COLUMNS = ["job_id", "submit_s", "first_start_s", "finish_s", "jct_s", "gpu_seconds", "preemptions", "restarts",
               "gpus", "run_s", "tenant", "user"]
SUMMARY_KEYS = {"policy", "jobs", "avg_jct_s", "p50_jct_s", "p95_jct_s", "p99_jct_s", "makespan_s",
                "gpu_utilisation", "decisions", "decision_us_p50", "decision_us_p99", "cpu_s", "wall_s", "oracle"}
HEADER = "job_id,submit_s,gpus,duration_s\n"
SMALL = ["--cluster", "4x8", "--load", "0.5", "--span", "1d"]


def train_options(iterations=2):
    # A load that every half day of the trace offers.
    return ["--cluster", "2x8", "--iterations", str(iterations), "--batch", "2", "--method", "policy-gradient:rollouts=3", "--episode-span", "12h",
            "--training-loads", "0.3", "--validation-workloads", "1", "--quiet"]


def write_trace(path, rows=(), header=HEADER):
    path.write_text(header + "".join(f"{row}\n" for row in rows))
    return path


def read_json(path):
    return json.loads(path.read_text())


@pytest.fixture
def trace(tmp_path):
    """Thirty jobs that two nodes of four GPUs cannot all run at once."""
    draw = random.Random(1)
    rows = [f"job-{i},{i * 40},{draw.choice([1, 1, 2, 4])},{draw.randint(300, 6000)}" for i in range(30)]
    return write_trace(tmp_path / "trace.csv", rows)


@pytest.fixture
def bad(allot, tmp_path):
    """bad(row, ...) appends rows to a good trace and returns what simulate says about it (exit code 3)."""

    def run(*rows):
        path = write_trace(tmp_path / "bad.csv", ["a,0,1,600", "b,10,2,900", *rows])
        return allot("simulate", "--workload", path, "--cluster", "2x4", exit=3).stderr

    return run


@pytest.fixture(scope="session")
def trained(training, program, made_once):
    """Folder of an uninterrupted run of two iterations. Read-only."""
    def train(folder):
        done = subprocess.run([program, "train", *train_options(), "--out", folder], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return made_once("trained", train)


# ---- results ----


def test_simulate_writes_jobs_and_summary(allot, trace, tmp_path):
    out = tmp_path / "out"
    allot("simulate", "--workload", trace, "--cluster", "2x4", "--policy", "las", "--seed", "1", "--out", out)
    with open(out / "jobs.csv", newline="") as file:
        rows = csv.DictReader(file)
        assert rows.fieldnames == JOB_COLUMNS
        jct = [float(row["jct_s"]) for row in rows]
    assert len(jct) == 30
    summary = read_json(out / "summary.json")
    assert SUMMARY_KEYS <= summary.keys()
    assert (summary["policy"], summary["jobs"], summary["oracle"]) == ("las", 30, False)
    assert summary["avg_jct_s"] == pytest.approx(sum(jct) / 30, rel=1e-9)


def test_evaluate_writes_a_summary_for_each_policy(allot, trained, trace, tmp_path):
    allot("evaluate", "--checkpoint", trained / "best", "--workload", trace, "--cluster", "2x4",
          "--against", "fifo,las", "--out", tmp_path / "out")
    for policy in ("learned", "fifo", "las"):
        assert read_json(tmp_path / "out" / policy / "summary.json")["policy"] == policy


def test_threads_do_not_change_results(allot, trace, tmp_path):
    results = []
    for threads in (1, 2, 8):
        out = tmp_path / f"out{threads}"
        allot("compare", "--workload", trace, "--cluster", "2x4", "--policies", "fifo,las,srtf", "--threads", threads,
              "--out", out)
        results.append([(out / policy / "jobs.csv").read_bytes() for policy in ("fifo", "las", "srtf")])
    assert results[0] == results[1] == results[2]


def test_speeds_that_no_trace_says_are_not_invented(allot, tmp_path):
    write_trace(tmp_path / "one.csv", ["A,0,4,7200"])
    world = ["--workload", "one.csv", "--cluster", "4x4", "--policies", "optimus"]
    for seed in ("1", "2", "3"):
        evaluation = json.loads(allot("compare", *world, "--seed", seed, "--json").stdout)
        assert evaluation["policies"][0]["runs"][0]["avg_jct_s"] == 7200
        assert "models_drawn" not in evaluation["workloads"][0]
    # The setting of traces has the same rule.
    setting = json.loads(allot("compare", "--setting", "trace:workload=one.csv,loads=0,lengths=true", "--policies",
                               "optimus", "--json").stdout)
    assert setting["policies"][0]["runs"][0]["avg_jct_s"] == 7200


def test_optimus_divides_a_cluster_between_two_linear_jobs(allot, tmp_path):
    (tmp_path / "linear.csv").write_text("profile,gpu_type,gpus,rate\n" + "".join(f"linear,gpu,{n},{n}\n" for n in (1, 2, 3, 4)))
    write_trace(tmp_path / "two.csv", ["A,0,2,1000,1,4,linear", "B,0,2,1000,1,4,linear"],
                "job_id,submit_s,gpus,duration_s,min_gpus,max_gpus,model\n")
    allot("simulate", "--workload", "two.csv", "--catalogue", "linear.csv", "--cluster", "1x4", "--policy", "optimus",
          "--length-estimates", "true", "--out", "out")
    assert [float(row["finish_s"]) for row in csv.DictReader(open(tmp_path / "out" / "jobs.csv"))] == [1000, 1000]


def test_drawn_speeds_are_said_everywhere(allot, tmp_path):
    write_trace(tmp_path / "two.csv", ["A,0,4,7200,", "B,0,1,600,resnet18:16"], "job_id,submit_s,gpus,duration_s,model\n")
    world = ["--workload", "two.csv", "--cluster", "4x4", "--elastic"]
    drawn = "drawn at random for 1 of 2 jobs, from measured throughput (traces/catalogue.csv)"
    table = allot("compare", *world, "--policies", "fifo,optimus", "--out", "runs").stdout
    assert f"Throughput models: {drawn}." in table
    known = {"jobs": 1, "from": "measured throughput (traces/catalogue.csv)"}
    assert read_json(tmp_path / "runs" / "evaluation.json")["workloads"][0]["models_drawn"] == known
    assert json.loads(allot("simulate", *world, "--json").stdout)["models_drawn"] == known
    assert json.loads(allot("trace", "convert", *world, "-o", "copy.csv", "--json").stdout)["models_drawn"] == known
    allot("report", "runs", "--out", "report.html")
    assert drawn in (tmp_path / "report.html").read_text()
    # The trace that ships with allot is elastic by default, and says so too.
    embedded = ["compare", "--to", "2017-11-06", "--load", "0.1", "--cluster", "2x8", "--policies", "fifo"]
    assert "Throughput models: drawn at random for" in allot(*embedded).stdout
    assert "Throughput models" not in allot(*embedded, "--rigid").stdout
    allot(*embedded, "--rigid", "--elastic", exit=2)


def test_rigid_jobs_keep_their_size(allot, trace, tmp_path):
    allot("simulate", "--workload", trace, "--cluster", "2x4", "--policy", "optimus", "--out", tmp_path / "out")
    gpus = {row["job_id"]: int(row["gpus"]) for row in csv.DictReader(open(trace, newline=""))}
    durations = {row["job_id"]: float(row["duration_s"]) for row in csv.DictReader(open(trace, newline=""))}
    for row in csv.DictReader(open(tmp_path / "out" / "jobs.csv", newline="")):
        restarted = int(row["restarts"]) * gpus[row["job_id"]] * 30  # 30 s are lost at each restart
        wanted = gpus[row["job_id"]] * durations[row["job_id"]] + restarted
        assert float(row["gpu_seconds"]) == pytest.approx(wanted, rel=1e-6), row


def test_true_lengths_mark_oracles(allot, trace, tmp_path):
    done = allot("compare", "--workload", trace, "--cluster", "2x4", "--policies", "fifo,srtf", "--length-estimates", "true",
                 "--out", tmp_path / "out")
    assert "srtf (oracle)" in done.stdout and "fifo (oracle)" not in done.stdout
    assert read_json(tmp_path / "out" / "srtf" / "summary.json")["oracle"] is True
    assert read_json(tmp_path / "out" / "fifo" / "summary.json")["oracle"] is False


def test_reference_points_stand_beside_policies(allot, trace, tmp_path):
    done = allot("compare", "--workload", trace, "--cluster", "2x4", "--policies", "index,dynamic,rollout,clairvoyant:budget=40",
                 "--bounds", "--out", tmp_path / "out")
    assert "clairvoyant:budget=40 (oracle)" in done.stdout and "lower bound" in done.stdout
    evaluation = read_json(tmp_path / "out" / "evaluation.json")
    bound = evaluation["workloads"][0]["jct_bound_s"]
    jct = {policy["id"]: policy["runs"][0]["avg_jct_s"] for policy in evaluation["policies"]}
    assert 0 < bound <= jct["clairvoyant:budget=40"] <= min(jct.values())


def test_json_goes_alone_to_stdout(allot, trace):
    summary = json.loads(allot("simulate", "--workload", trace, "--cluster", "2x4", "--json").stdout)
    assert summary["jobs"] == 30
    kinds = json.loads(allot("list", "--json").stdout)
    assert {"fifo", "las", "srtf", "learned"} <= {policy["id"] for policy in kinds["policies"]}
    assert all(policy["summary"] for policy in kinds["policies"])


def test_no_escape_codes_outside_a_terminal(allot, trace):
    done = allot("compare", "--workload", trace, "--cluster", "2x4", "--policies", "fifo,las")
    assert "\x1b" not in done.stdout + done.stderr and "\r" not in done.stderr


def test_json_of_what_writes_a_file(allot, trace, tmp_path):
    convert = allot("trace", "convert", "--workload", trace, "--out", "copy.csv", "--json")
    assert json.loads(convert.stdout) == {"jobs": 30, "out": "copy.csv"}
    assert "--workloads" in allot("trace", "convert", "--workload", trace, "--workloads", "3", "--out", "x", exit=2).stderr
    allot("compare", "--workload", trace, "--cluster", "2x4", "--policies", "fifo,las", "--out", "runs")
    assert json.loads(allot("report", "runs", "--json").stdout) == {"report": "report.html"}


def test_bytes_that_are_no_text_lose_no_run(allot, trace, tmp_path):
    allot("compare", "--workload", trace, "--cluster", "2x4", "--policies", "fifo,las", "--title", b"\xff".decode(errors="surrogateescape"),
          "--out", tmp_path / "out", "--json")
    assert read_json(tmp_path / "out" / "evaluation.json")["title"] == "\ufffd"


def test_trace_from_stdin(allot, trace):
    summary = json.loads(allot("simulate", "--workload", "-", "--cluster", "2x4", "--json", input=trace.read_text()).stdout)
    assert summary["jobs"] == 30


def test_only_commands_that_train_start_libtorch(training, program):
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    assert "libhdf5" in libraries
    assert "torch" not in libraries


def test_results_replace_those_of_an_earlier_run(allot, trace, tmp_path):
    out = tmp_path / "out"
    for policies in ("las,srtf", "fifo"):
        allot("compare", "--workload", trace, "--cluster", "2x4", "--policies", policies, "--out", out)
    assert sorted(path.name for path in out.iterdir()) == ["evaluation.json", "fifo", "origin.json"]


def checkpoint_with(root, folder, config):
    """A copy of the golden checkpoint that says it was trained so."""
    shutil.copytree(root / "tests" / "golden" / "checkpoint", folder)
    data = json.dumps(config).encode()
    checksum = 0xCBF29CE484222325
    for byte in data:
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    manifest = read_json(folder / "manifest.json")
    manifest["files"]["config.json"] = {"bytes": len(data), "checksum": f"fnv1a64:{checksum:016x}"}
    (folder / "config.json").write_bytes(data)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.mark.parametrize("training, unseen, words", [
    ({"world": {"workload": "embedded", "from": "", "to": "2017-11-13"}}, True, "1 unseen workload."),
    ({"world": {"workload": "embedded", "from": "", "to": "2017-11-14"}}, False, "1 workload seen in training"),
    ({"world": {"workload": "other.csv", "from": "", "to": ""}}, None, "1 workload not known to be unseen"),
    ({}, None, "1 workload not known to be unseen"),
])
def test_evaluate_says_what_training_saw(allot, root, tmp_path, training, unseen, words):
    checkpoint = checkpoint_with(root, tmp_path / "checkpoint", training)
    done = allot("evaluate", "--checkpoint", checkpoint, *SMALL, "--from", "2017-11-13", "--against", "fifo",
                 "--out", tmp_path / "out")
    assert words in done.stdout
    assert read_json(tmp_path / "out" / "evaluation.json")["unseen"] is unseen


def test_log_replays(allot, trace, tmp_path):
    allot("compare", "--workload", trace, "--cluster", "2x4", "--policies", "srtf", "--log", tmp_path / "logs")
    (replayed,) = json.loads(allot("replay", tmp_path / "logs" / "cluster" / "srtf-v0", "--json").stdout)
    assert (replayed["jobs"], replayed["different"]) == (30, 0)


@pytest.mark.parametrize("setting", ["dl2:size=E24", "trace:span=1d,gpus=64,speedups=power,lengths=noisy:0.5"])
def test_logs_of_settings_replay(allot, tmp_path, setting):
    allot("simulate", "--setting", setting, "--policy", "srtf", "--log", tmp_path / "logs")
    (replayed,) = json.loads(allot("replay", tmp_path / "logs" / "cluster" / "srtf-v0", "--json").stdout)
    assert replayed["different"] == 0


def test_jobs_run_as_the_users_own_profiles_say(allot, tmp_path):
    (tmp_path / "profiles.csv").write_text("profile,gpu_type,gpus,rate\nmine,v100,1,1\nmine,v100,4,3\n")
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s,max_gpus,model\na,0,1,3000,4,mine\n")
    world = ("--workload", tmp_path / "jobs.csv", "--cluster", "1x4")
    assert "unknown throughput profile 'mine'" in allot("simulate", *world, exit=3).stderr
    world += ("--catalogue", tmp_path / "profiles.csv")
    allot("simulate", *world, "--policy", "index", "--out", tmp_path / "out", "--log", tmp_path / "logs")
    assert read_json(tmp_path / "out" / "summary.json")["avg_jct_s"] == 1000  # 3,000 s of work at rate 3
    (tmp_path / "profiles.csv").unlink()  # the log has its text
    (replayed,) = json.loads(allot("replay", tmp_path / "logs" / "cluster" / "index-v0", "--json").stdout)
    assert replayed["different"] == 0


# ---- options ----


@pytest.mark.parametrize("command, option", [
    ("simulate", "--policy"), ("compare", "--policies"), ("evaluate", "--checkpoint"), ("list", "kind"),
    ("replay", "log"), ("report", "--training"), ("trace inspect", "--workload"), ("trace convert", "--out"),
])
def test_help(allot, command, option):
    assert option in allot(*command.split(), "--help").stdout


def test_help_is_short_and_help_all_is_whole(allot):
    short, whole = allot("compare", "--help").stdout, allot("compare", "--help-all").stdout
    assert "--workload" in short and "--node-price" not in short and "--node-price" in whole
    assert "--help-all shows" in short and "--help-all shows" not in whole
    assert [line for line in whole.splitlines() if line.endswith(":") and not line.startswith(" ")][:5] == [
        "Positionals:", "Options:", "Workload:", "Cluster:", "Rules of the simulation:"]


def test_help_without_details_has_no_long_form(allot):
    assert "--help-all" not in allot("replay", "--help").stdout


@pytest.mark.parametrize("command, option", [("pretrain", "--epochs"), ("train", "--resume")])
def test_help_of_training(allot, training, command, option):
    assert option in allot(command, "--help").stdout


def test_every_command_is_listed(allot):
    text = allot("--help").stdout
    for word in ("compare", "evaluate", "list", "replay", "report", "simulate", "trace", "--json", "--threads", "--config",
                 "Exit codes"):
        assert word in text


def test_unknown_policy_is_suggested(allot):
    stderr = allot("compare", "--policies", "ffo", exit=2).stderr
    assert "unknown policy 'ffo'" in stderr and "did you mean 'fifo'?" in stderr


def test_unknown_option_is_suggested(allot):
    stderr = allot("compare", "--clustr", "2x4", exit=2).stderr
    assert "unknown option '--clustr'" in stderr and "did you mean '--cluster'?" in stderr


@pytest.mark.parametrize("words, wrong, meant", [
    (["simulat"], "'simulat'", "'simulate'"), (["trace", "inspct"], "'inspct'", "'inspect'"),
    (["list", "polcies"], "'polcies'", "'policies'"),
])
def test_unknown_command_is_suggested(allot, words, wrong, meant):
    stderr = allot(*words, exit=2).stderr
    assert stderr.startswith("allot: ") and wrong in stderr and f"did you mean {meant}?" in stderr


@pytest.mark.parametrize("options, parts", [
    (["--seed", "-1"], ["--seed", "'-1'"]),
    (["--seed", "99999999999999999999"], ["--seed", "'99999999999999999999'"]),
    (["--threads", "100000"], ["--threads", "1024", "100000"]),
    (["--interval", "inf"], ["--interval: must be a time", "inf"]),
    (["--restart-cost", "inf"], ["--restart-cost: must be a time", "inf"]),
    (["--load", "0"], ["--load must be > 0", "0"]),
    (["--to", "0"], ["--to must lie after the first submission of 'trace'", "0 s", "got 0"]),
    (["--policies", "fifo,"], ["a name is missing", "'fifo,'"]),
    (["--policies", "fifo,las", "--reference", "la"], ["'la'", "did you mean 'las'?"]),
    (["--policies", "las:queues=1.5|20,las:queues=1|5|20"], ["share the folder 'cluster/las-queues-1-5-20-v0'"]),
    (["trace.csv"], ["unexpected argument 'trace.csv'", "allot compare --help"]),
])
def test_values_that_make_no_sense(allot, trace, options, parts):
    done = allot("compare", "--workload", trace, "--cluster", "2x4", *options, exit=2)
    assert done.stderr.startswith("allot: ") and done.stdout == ""
    for part in parts:
        assert part in done.stderr


@pytest.mark.parametrize("text, parts", [
    ("[simulate]\npolicy = 'las'\n", ["run.toml:1: ", "no sections", "[simulate]"]),
    ("policy = 'las'\nseed = 1\npolicy = 'fifo'\n", ["run.toml:3: ", "must be TOML", "policy"]),
    ("seed = 1\npolicy = las\n", ["run.toml:2: ", "must be TOML"]),
    ("seed = 1\npolcy = 'las'\n", ["run.toml:2: ", "unknown option 'polcy'", "did you mean 'policy'?"]),
    ("seed = 1\npolicy = [['las']]\n", ["run.toml:2: ", "'policy' must be a text"]),
    ("json = true\nseed = 'x'\n", ["--seed", "run.toml:2"]),
])
def test_config_file_that_is_refused(allot, trace, tmp_path, text, parts):
    (tmp_path / "run.toml").write_text(text)
    stderr = allot("simulate", "--workload", trace, "--config", "run.toml", exit=2).stderr
    for part in parts:
        assert part in stderr


def test_config_file_has_rules_as_a_table(allot, trace, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text('policy = "las"\n[rules]\ncoldown = 5\n')
    stderr = allot("simulate", "--workload", trace, "--cluster", "2x4", "--config", config, exit=3).stderr
    assert f"{config}:3: unknown key 'coldown' (did you mean 'cooldown'?)" in stderr
    config.write_text('policy = "las"\n[rules]\ncooldown = 5\n')
    allot("simulate", "--workload", trace, "--cluster", "2x4", "--config", config)


def test_config_file_sets_options(allot, trace, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text('cluster = "2x4"\npolicy = "las"\njson = true\n')
    assert json.loads(allot("simulate", "--workload", trace, "--config", config).stdout)["policy"] == "las"
    overruled = allot("simulate", "--workload", trace, "--config", config, "--policy", "srtf")
    assert json.loads(overruled.stdout)["policy"] == "srtf"


def test_config_file_before_the_command_may_be_named_like_one(allot, trace, training, tmp_path):
    config = tmp_path / "simulate"
    config.write_text("iterations = 3\n")
    assert "Usage: allot train" in allot("--config", "simulate", "train", "--help").stdout
    config.rename(tmp_path / "train").write_text('policy = "las"\n')
    summary = allot("--config", "train", "simulate", "--workload", trace, "--cluster", "2x4", "--json").stdout
    assert json.loads(summary)["policy"] == "las"


def test_missing_config_file(allot, trace):
    assert "none.toml" in allot("simulate", "--workload", trace, "--config", "none.toml", exit=2).stderr


# ---- data that is refused: the rule, both values, file and line ----


@pytest.mark.parametrize("row, parts", [
    ("c,-5,1,600", ["submit time must be from 0", "got -5"]),
    ("c,nan,1,600", ["'submit_s' must be a finite number", "'nan'"]),
    ("c,0,1,nan", ["'duration_s' must be a finite number", "'nan'"]),
    ("c,0,1,-3", ["duration must be > 0", "got -3"]),
    ("c,0,0,600", ["'gpus' must be a whole number from 1", "'0'"]),
    ("a,20,1,600", ["job ids must be unique", "'a' on lines 2 and 4"]),
    ("c,0,1", ["4 fields", "got 3"]),
    ("c,0,1,600,7", ["4 fields", "got 5"]),
])
def test_bad_row(bad, row, parts):
    stderr = bad(row)
    for part in [*parts, "bad.csv:4"]:
        assert part in stderr


def test_missing_column(allot, tmp_path):
    (tmp_path / "bad.csv").write_text("job_id,submit_s,gpus\na,0,1\n")
    stderr = allot("simulate", "--workload", "bad.csv", exit=3).stderr
    assert "'duration_s' is required" in stderr and "bad.csv:1" in stderr


def test_extra_column(allot, tmp_path):
    (tmp_path / "bad.csv").write_text(HEADER.strip() + ",colour\na,0,1,600,red\n")
    stderr = allot("simulate", "--workload", "bad.csv", exit=3).stderr
    assert "'colour'" in stderr and "bad.csv:1" in stderr


def test_job_larger_than_the_cluster(bad):
    stderr = bad("giant,20,16,600")
    for part in ("'giant'", "16 GPUs", "has 8", "bad.csv:4"):
        assert part in stderr


def test_deadline_that_no_type_can_meet(allot, tmp_path):
    """An SLO of Gavel is a promise; deadlines of other traces may be what nobody can keep."""
    (tmp_path / "slo.csv").write_text("job_id,arrival_time_s,job_type,scale_factor,total_steps,slo,v100_duration_s\n"
                                      "a,0,ResNet-18 (batch size 16),1,3235.338433,1,100\n"
                                      "b,5,ResNet-18 (batch size 16),1,3235.338433,0.5,100\n")
    world = ["--workload", "slo.csv", "--cluster", "1x1:v100,1x1:p100", "--catalogue", "gavel", "--policy", "fifo"]
    stderr = allot("simulate", *world, exit=3).stderr
    for part in ("shortest run time", "'b'", "50 s", "90.19", "(p100)", "slo.csv:3", "--late-deadlines"):
        assert part in stderr
    allot("simulate", *world, "--late-deadlines", "--quiet")


def test_ideal_shares_are_had_without_rounds(allot):
    table = json.loads(allot("compare", "--setting", "gavel:jobs=20,gpus=6", "--policies",
                             "max_sum_throughput_perf-repaired,max_sum_throughput_perf-repaired:ideal=true", "--json").stdout)
    rounds, ideal = (policy["runs"][0] for policy in table["policies"])
    assert ideal["avg_jct_s"] < rounds["avg_jct_s"] and ideal["restarts"] == 0


def test_unknown_profile(allot, tmp_path):
    (tmp_path / "bad.csv").write_text(HEADER.strip() + ",model\na,0,1,600,\nb,0,1,600,nomodel\n")
    stderr = allot("simulate", "--workload", "bad.csv", exit=3).stderr
    for part in ("unknown throughput profile 'nomodel'", "'b'", "bad.csv:3"):
        assert part in stderr


def test_zero_byte(bad):
    stderr = bad("c\0,0,1,600")
    assert "a field must hold text" in stderr and "bad.csv:4" in stderr


# ---- --lenient: left out, counted and told ----


@pytest.fixture
def broken(tmp_path):
    """A trace of 30 jobs and two rows that are none."""
    rows = [f"job-{i},{i * 40},1,600" for i in range(30)]
    return write_trace(tmp_path / "broken.csv", [*rows[:5], "x,nan,1,600", *rows[5:], "y,0,1"])


LEFT_OUT = [{"first": "broken.csv:7", "reason": "malformed: 'submit_s' must be a finite number", "rows": 1},
            {"first": "broken.csv:33", "reason": "malformed: a row must have 4 fields as in the header", "rows": 1}]


@pytest.mark.parametrize("command", [
    ["simulate"], ["compare", "--policies", "fifo,las"], ["trace convert", "--out", "c.csv"], ["trace inspect"],
    ["sweep", "--policies", "fifo", "--clusters", "4x8"]])
def test_lenient_counts_what_it_leaves_out(allot, broken, command):
    name, *rest = command
    workload = ["broken.csv"] if name == "trace inspect" else ["--workload", "broken.csv"]
    assert "broken.csv:7" in allot(*name.split(), *workload, *rest, exit=3).stderr
    done = allot(*name.split(), *workload, *rest, "--lenient")
    told = done.stdout if name == "trace inspect" else done.stderr
    for entry in LEFT_OUT:
        assert entry["reason"] in told and entry["first"] in told
    assert "2 of 32 records" in told


@pytest.mark.parametrize("command", [
    ["simulate"], ["compare", "--policies", "fifo,las"], ["trace inspect"], ["sweep", "--policies", "fifo"]])
def test_lenient_counts_in_json(allot, broken, command):
    name, *rest = command
    workload = ["broken.csv"] if name == "trace inspect" else ["--workload", "broken.csv"]
    json_out = json.loads(allot(*name.split(), *workload, *rest, "--lenient", "--json").stdout)
    read = json_out["read"]["broken.csv"] if name == "sweep" else json_out["read"]
    assert read["rows"] == 32
    assert read["dropped"] == LEFT_OUT


def test_interrupt_while_a_trace_is_read(program, tmp_path):
    pipe = tmp_path / "trace.csv"
    os.mkfifo(pipe)
    process = subprocess.Popen([program, "simulate", "--workload", pipe], stderr=subprocess.PIPE, text=True)
    with open(pipe, "w") as file:  # waits until the program has opened it
        process.send_signal(signal.SIGINT)
        file.write(HEADER + "a,0,1,600\n")
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 130, stderr


# ---- workloads made by a law ----


def test_generated_workload_is_a_trace(allot, tmp_path):
    allot("trace", "generate", "philly", "--jobs", "500", "--seed", "3", "-o", "x.csv")
    stats = json.loads(allot("trace", "inspect", "x.csv", "--json").stdout)
    assert (stats["jobs"], stats["read"]["format"], stats["read"]["dropped"]) == (500, "allot", [])
    allot("trace", "convert", "--workload", "law:philly", "--jobs", "500", "--seed", "3", "--rigid", "-o", "y.csv")
    assert (tmp_path / "x.csv").read_bytes() == (tmp_path / "y.csv").read_bytes()


def test_a_law_makes_one_workload_a_seed(allot):
    def jct(*options):
        out = json.loads(allot("compare", "--workload", "law:helios-venus", "--jobs", "200", "--cluster", "16x8",
                               "--policies", "fifo", "--json", *options).stdout)
        return [run["avg_jct_s"] for run in out["policies"][0]["runs"]]

    together = jct("--workloads", "3", "--seed", "5")
    assert together == jct("--seed", "5") + jct("--seed", "6") + jct("--seed", "7")
    assert len(set(together)) == 3


def test_empty_trace(allot, tmp_path):
    write_trace(tmp_path / "empty.csv")
    stderr = allot("simulate", "--workload", "empty.csv", exit=3).stderr
    assert "at least 1 usable job, got 0" in stderr and "empty.csv" in stderr


def test_empty_cluster(allot, trace):
    stderr = allot("simulate", "--workload", trace, "--cluster", "0x4", exit=2).stderr
    assert "from 1 to" in stderr and "'0' in '0x4'" in stderr
    assert "at least 1 GPU" in allot("simulate", "--workload", trace, "--cluster", "4x0", exit=2).stderr


def test_gzip_that_is_cut_short(allot, trace, tmp_path):
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(trace.read_bytes())[:60])
    stderr = allot("simulate", "--workload", "cut.csv.gz", exit=3).stderr
    assert "cut.csv.gz" in stderr and "cut short" in stderr


def test_missing_trace(allot):
    assert "'none.csv'" in allot("simulate", "--workload", "none.csv", exit=3).stderr


def test_flipped_byte_in_a_checkpoint(allot, trained, trace, tmp_path):
    copy = tmp_path / "checkpoint"
    copy.mkdir()
    for file in (trained / "best").iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    stderr = allot("evaluate", "--checkpoint", copy, "--workload", trace, "--cluster", "2x4", exit=3).stderr
    assert "model.safetensors" in stderr


def test_full_disk_leaves_no_results(allot, trace, tmp_path):
    # A limit on file sizes stands in for the disk; restore_signals=False keeps its signal ignored.
    done = allot("simulate", "--workload", trace, "--cluster", "2x4", "--out", tmp_path / "out", exit=1,
                 restore_signals=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)))
    assert "cannot write" in done.stderr
    assert not (tmp_path / "out" / "jobs.csv").exists()


def test_full_stdout(program):
    with open("/dev/full", "w") as full:
        done = subprocess.run([program, "list", "--json"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "cannot write to standard output" in done.stderr


@pytest.fixture
def damaged(allot, trace, tmp_path):
    """damaged(change) logs a run, lets `change` edit the first episode and returns what replay says (exit code 3)."""
    allot("compare", "--workload", trace, "--cluster", "2x4", "--policies", "fifo", "--log", tmp_path / "logs")

    def run(change):
        with h5py.File(tmp_path / "logs" / "cluster" / "fifo-v0" / "data" / "main_data.hdf5", "r+") as file:
            change(file["episode_0"])
        return allot("replay", tmp_path / "logs" / "cluster" / "fifo-v0", exit=3).stderr

    return run


@pytest.mark.parametrize("column, value", [
    ("allocation/job", 99), ("allocation/configuration", 99), ("allocation/node", 99), ("allocation/gpus", 0),
    ("allocation/time", 7.5), ("workload/submit", float("nan")), ("workload/gpus", 0), ("workload/gpus", 99),
    ("workload/job_id", "job-1"),
])
def test_damaged_log_names_the_file(damaged, column, value):
    def change(episode):
        episode[column][0] = value

    assert "fifo-v0" in damaged(change)


VERIFIED = ("observations", "actions", "rewards", "terminations", "truncations", "infos")


def columns_of(path, groups=None):
    """Name -> values of every data set of the first episode, or of those in the groups."""
    columns = {}
    with h5py.File(path, "r") as file:
        def keep(name, item):
            if isinstance(item, h5py.Dataset) and (groups is None or name.split("/")[0] in groups):
                columns[name] = item[()]

        file["episode_0"].visititems(keep)
    return columns


@pytest.fixture
def logged(allot, trace, tmp_path):
    """A log of thirty elastic jobs: its folder and its file."""
    allot("compare", "--workload", trace, "--cluster", "2x4", "--elastic", "--policies", "drf", "--log", tmp_path / "logs")
    folder = tmp_path / "logs" / "cluster" / "drf-v0"
    return folder, folder / "data" / "main_data.hdf5"


def test_replay_finds_and_names_any_changed_value(allot, logged):
    folder, path = logged
    original = path.read_bytes()
    draw = random.Random(5)
    columns = columns_of(path)
    checked = [name for name in columns if name.split("/")[0] in VERIFIED]
    assert len(checked) == 12
    for name in [*checked, "result/finish"]:
        for _ in range(3):
            index = tuple(draw.randrange(length) for length in columns[name].shape)
            with h5py.File(path, "r+") as file:
                values = file["episode_0"][name]
                was = values[index]
                raw = bytearray(was.tobytes())
                raw[draw.randrange(len(raw))] ^= 1 << (0 if was.dtype == bool else draw.randrange(8))
                values[index] = numpy.frombuffer(raw, was.dtype)[0]
            (replayed,) = json.loads(allot("replay", folder, "--json", exit=4).stdout)
            assert replayed["different"] == 1, (name, index)
            where = f"'{name}' of job 'job-{index[0]}'" if name == "result/finish" else f"'{name}' at step {index[0]}"
            assert replayed["first"].startswith(f"episode 0, {where}: replayed "), (name, index)
            assert ", logged " in replayed["first"]
            path.write_bytes(original)
    assert json.loads(allot("replay", folder, "--json").stdout)[0]["different"] == 0


def test_no_flipped_bit_of_a_log_goes_unseen(program, logged):
    folder, path = logged
    original = path.read_bytes()
    columns = columns_of(path)
    draw = random.Random(7)
    refused = 0
    for _ in range(60):
        damaged = bytearray(original)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        done = subprocess.run([program, "replay", folder], capture_output=True, text=True, timeout=600)
        assert done.returncode in (0, 3), done.stderr
        refused += done.returncode != 0
        if done.returncode == 0:  # a byte that holds nothing
            now = columns_of(path, VERIFIED)
            assert all(numpy.array_equal(now[name], columns[name]) for name in now) and len(now) == 12
    assert refused > 10


def test_pretrain_refuses_a_log_that_was_changed(allot, training, logged):
    folder, path = logged
    with h5py.File(path, "r+") as file:
        file["episode_0/rewards"][4] -= 1
    stderr = allot("pretrain", "--log", folder, "--epochs", "1", "--out", "pre", "--quiet", exit=3).stderr
    assert "drf-v0" in stderr and "episode 0, 'rewards' at step 4: replayed " in stderr


def test_log_of_an_impossible_cluster_names_the_file(damaged):
    def change(episode):
        episode["workload"].attrs["cluster"] = numpy.bytes_("zzz")

    stderr = damaged(change)
    assert "fifo-v0" in stderr and "'zzz'" in stderr


def test_log_that_lacks_finish_times(damaged):
    def change(episode):
        del episode["result/finish"]
        episode["result"].create_dataset("finish", data=[1.0])

    stderr = damaged(change)
    assert "fifo-v0" in stderr and "result/finish" in stderr


# ---- learning ----


def test_log_is_learned_from(allot, training, tmp_path):
    allot("compare", *SMALL, "--policies", "srtf", "--log", tmp_path / "logs")
    log = tmp_path / "logs" / "cluster" / "srtf-v0"
    allot("pretrain", "--log", log, "--epochs", "2", "--out", tmp_path / "pre")
    assert (tmp_path / "pre" / "pretrain.csv").read_text().startswith("epoch,loss,held_out_loss,agreement\n")
    allot("train", *train_options(), "--stop-after", "1", "--start", tmp_path / "pre" / "checkpoint", "--out", tmp_path / "run")


def test_resumed_training_ends_in_the_same_bytes(allot, trained, tmp_path):
    out = tmp_path / "run"
    allot("train", *train_options(), "--out", out, "--stop-after", "1", "--threads", "1")
    allot("train", *train_options(), "--out", out, "--resume", "--threads", "2")
    for name in ("model.safetensors", "optimizer.safetensors"):
        assert (out / "latest" / name).read_bytes() == (trained / "latest" / name).read_bytes(), name


# Takes longer than 10 s: the training must be long enough for a signal to find it at work.
def test_interrupted_training_goes_on(allot, training, program, tmp_path):
    # Long enough that the signal finds it at work; the reference is a run that is never stopped.
    options = [*train_options(iterations=100), "--validate-every", "1", "--patience", "0"]
    allot("train", *options, "--out", tmp_path / "whole")
    out = tmp_path / "run"

    def start():
        shutil.rmtree(out, ignore_errors=True)
        return subprocess.Popen([program, "train", *options, "--out", out], stderr=subprocess.PIPE, text=True)

    code, stderr = interrupted(start, lambda _: (out / "latest" / "manifest.json").exists())
    assert code == 130, stderr
    assert "--resume" in stderr
    assert 0 < read_json(out / "latest" / "state.json")["state"]["iteration"] < 100
    allot("train", *options, "--out", out, "--resume")
    assert (out / "latest" / "model.safetensors").read_bytes() == (tmp_path / "whole" / "latest" / "model.safetensors").read_bytes()


def test_resume_with_other_options_is_refused(allot, trained, tmp_path):
    out = tmp_path / "run"
    os.makedirs(out)
    for name in ("latest", "best"):
        (out / name).symlink_to(trained / name)
    stderr = allot("train", *train_options(), "--teacher", "drf", "--out", out, "--resume", exit=2).stderr
    assert 'teacher = "optimus"' in stderr and '"drf"' in stderr


# Takes longer than 10 s: two runs of training.
def test_a_finished_run_is_extended(allot, training, tmp_path):
    out = tmp_path / "run"
    allot("train", *train_options(iterations=2), "--out", out)
    loud = [option for option in train_options(iterations=4) if option != "--quiet"]
    said = allot("train", *loud, "--out", out, "--resume").stderr
    assert read_json(out / "latest" / "state.json")["state"]["iteration"] == 4
    assert "extended from 2 to 4 iterations; the learning rate falls over all of them, was 0.0001 and is 0.00022 now" in said
    stderr = allot("train", *train_options(iterations=1), "--out", out, "--resume", exit=2).stderr
    assert "iterations = 4, now it is 1" in stderr


@pytest.mark.parametrize("method", ["policy-gradient:rollouts=3,learning-rate=0.001,final-learning-rate=0.001",
                                    "evolution:pairs=2,learning-rate=0.01,final-learning-rate=0.01"])
def test_an_extended_run_is_the_longer_run_where_the_learning_rate_stays(allot, training, tmp_path, method):
    run = ["train", "--setting", "dl2:size=S", "--method", method, "--batch", "1", "--validation-workloads", "1", "--iterations"]
    allot(*run, "3", "--out", tmp_path / "whole")
    allot(*run, "1", "--out", tmp_path / "run")
    assert "extended from" not in allot(*run, "3", "--out", tmp_path / "run", "--resume").stderr
    for name in ("model.safetensors", "optimizer.safetensors"):
        assert (tmp_path / "run" / "latest" / name).read_bytes() == (tmp_path / "whole" / "latest" / name).read_bytes(), name


def test_run_is_not_overwritten(allot, trained):
    assert "--resume" in allot("train", *train_options(), "--out", trained, exit=2).stderr


def test_settings_stand_in_for_a_trace(allot):
    result = json.loads(allot("compare", "--setting", "dl2:size=S", "--workloads", "2", "--policies", "fifo,index",
                              "--json").stdout)
    assert [workload["jobs"] for workload in result["workloads"]] == [10, 10]
    stderr = allot("compare", "--setting", "dl2:size=V25", "--policies", "fifo", exit=2).stderr
    assert "unknown size 'V25'" in stderr
    assert "--load" in allot("compare", "--setting", "dl2", "--load", "1", exit=2).stderr


def test_published_and_repaired_policies_stand_in_one_table(allot):
    result = json.loads(allot("compare", "--setting", "gavel:jobs=20,gpus=6,lengths=true", "--json").stdout)
    names = [policy["label"] for policy in result["policies"]]
    assert {"assignment", "max_sum_throughput_perf", "max_sum_throughput_perf-repaired", "allox"} <= set(names)
    assert "--profile excludes --setting" in allot("compare", "--setting", "gavel", "--profile", "gavel", exit=2).stderr


def test_tune_names_an_index_that_runs(allot):
    found = json.loads(allot("tune", "--setting", "dl2:size=S", "--workloads", "2", "--passes", "1", "--json").stdout)
    assert found["policy"].startswith("index:basis=")
    assert found["episodes_played"] > 0
    allot("simulate", "--setting", "dl2:size=S", "--policy", found["policy"], "--json")


def test_training_in_settings(allot, tmp_path, training):
    out = tmp_path / "run"
    for method in ("evolution:pairs=2,objective=jct", "policy-gradient:rollouts=3"):
        allot("train", "--setting", "dl2:size=S,dl2:size=V24h", "--method", method, "--iterations", "1", "--batch", "1",
              "--validation-workloads", "1", "--quiet", "--out", out / method.split(":")[0])
    learned = f"learned:checkpoint={out / 'evolution' / 'latest'}"
    allot("compare", "--setting", "dl2:size=S", "--policies", f"{learned},optimus", "--json")


# Takes longer than 10 s: two methods train, stop and continue, after a pretraining.
@pytest.mark.parametrize("network", ["flat:window=10,hidden=16", "shared:hidden=8"])
def test_sequence_networks_from_teacher_to_serving(allot, tmp_path, training, network):
    kind = network.split(":")[0]
    allot("pretrain", "--network", network, "--setting", "dl2:size=S", "--teacher", "optimus-repaired",
          "--episodes", "4", "--epochs", "2", "--passes", "2", "--quiet", "--out", tmp_path / "pre")
    start = tmp_path / "pre" / "checkpoint"
    assert read_json(start / "state.json")["kind"] == kind
    for method in ("actor-critic:rollouts=2,updates=2", "ppo:rollouts=2,epochs=1"):
        train = ["train", "--setting", "dl2:size=S", "--network", kind, "--start", start, "--method", method, "--iterations", "2",
                 "--batch", "1", "--validation-workloads", "1", "--quiet"]
        name = method.split(":")[0]
        allot(*train, "--out", tmp_path / name)
        again = tmp_path / f"{name}-again"
        allot(*train, "--out", again, "--stop-after", "1", "--threads", "1")
        allot(*train, "--out", again, "--resume", "--threads", "2")
        for file in ("model.safetensors", "optimizer.safetensors", "memory.safetensors"):
            assert (again / "latest" / file).read_bytes() == (tmp_path / name / "latest" / file).read_bytes(), file
    learned = f"learned:checkpoint={tmp_path / 'ppo' / 'best'}"
    assert json.loads(allot("simulate", "--setting", "dl2:size=S", "--policy", learned, "--json").stdout)
    other = "shared" if kind == "flat" else "flat"
    assert f"--network asks for '{other}'" in allot("train", "--setting", "dl2:size=S", "--network", other, "--start", start,
                                                    "--method", "ppo", "--out", tmp_path / "no", exit=2).stderr
    assert "trains networks of index or numbers actions" in allot("train", "--setting", "dl2:size=S", "--start", start,
                                                       "--out", tmp_path / "no", exit=2).stderr
