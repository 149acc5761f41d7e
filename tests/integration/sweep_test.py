"""allot sweep as its users meet it: killed and continued, in shards, on Slurm, and mistaken."""

import csv
import json
import os
import signal
import stat
import subprocess
import time

import pytest

RESULTS = ("cells.csv", "table.csv")
SWEEP = ["--workload", "law:blox", "--profile", "blox", "--rigid", "--clusters", "4x4", "--jobs", "300", "--rates", "0.3,0.6,0.9",
         "--seeds", "0..2", "--policies", "fifo,las", "--window-jobs", "100..199", "--quiet"]


@pytest.fixture(scope="module")
def whole(program, tmp_path_factory):
    """Folder of the sweep run at once on one thread. Read-only."""
    folder = tmp_path_factory.mktemp("whole")
    subprocess.run([program, "sweep", *SWEEP, "--threads", "1", "--out", folder], check=True, capture_output=True)
    return folder


def assert_equal_results(folder, whole):
    for name in RESULTS:
        assert (folder / name).read_text() == (whole / name).read_text(), name
    # The command that made them is the one thing that may differ.
    results = [json.loads((path / "results.json").read_text()) for path in (folder, whole)]
    assert results[0]["cells"] == results[1]["cells"]


def finished(folder):
    return sum(path.read_bytes().count(b"\n") for path in (folder / "done").glob("*.jsonl"))


def test_cells_hold_factors_and_figures(whole):
    with open(whole / "cells.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 3 * 2
    assert {(row["rate"], row["seed"], row["policy"]) for row in rows} == {
        (rate, seed, policy) for rate in ("0.3", "0.6", "0.9") for seed in "012" for policy in ("fifo", "las")}
    assert all(row["jobs"] == "100" and row["unfinished"] == "0" for row in rows)


def test_threads_do_not_change_results(allot, whole, tmp_path):
    allot("sweep", *SWEEP, "--threads", "4", "--out", tmp_path / "out")
    assert_equal_results(tmp_path / "out", whole)


def test_a_killed_sweep_continues_and_ends_equal(program, allot, whole, tmp_path):
    out = tmp_path / "out"
    slow = subprocess.Popen([program, "sweep", *SWEEP, "--threads", "1", "--out", out], stderr=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL)
    # Kill it in the middle: once some cells are there. Should it have ended already, what a kill leaves is made by hand.
    while slow.poll() is None and (not (out / "done").exists() or finished(out) < 5):
        time.sleep(0.001)
    slow.send_signal(signal.SIGKILL)
    slow.wait()
    for name in (*RESULTS, "results.json", "timings.csv"):
        (out / name).unlink(missing_ok=True)
    journal = out / "done" / "1-of-1.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:5]) + lines[-1][:40])
    again = allot("sweep", *SWEEP[:-1], "--out", out)
    assert "18 cells, 5 of them taken up" in again.stderr
    assert_equal_results(out, whole)


def test_the_last_shard_merges(allot, whole, tmp_path):
    out = tmp_path / "out"
    for shard in (2, 3, 1):
        assert not (out / "cells.csv").exists()
        allot("sweep", *SWEEP, "--out", out, "--shard", f"{shard}/3")
    assert_equal_results(out, whole)


def test_a_folder_says_itself_what_it_holds(allot, whole, tmp_path):
    allot("sweep", whole / "sweep.json", "--out", tmp_path / "out", "-q")
    assert_equal_results(tmp_path / "out", whole)


def test_another_definition_is_refused_naming_both(allot, whole):
    options = [option.replace("4x4", "8x4") for option in SWEEP]
    said = allot("sweep", *options, "--out", whole, exit=2).stderr
    assert 'clusters = ["4x4"]' in said and 'clusters = ["8x4"]' in said


def test_a_changed_trace_is_refused(allot, tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s\na,0,1,600\nb,10,2,900\n")
    sweep = ["sweep", "--workload", trace, "--clusters", "2x4", "-p", "fifo", "--out", tmp_path / "out", "-q"]
    allot(*sweep)
    trace.write_text(trace.read_text() + "c,20,1,60\n")
    assert "trace.csv" in allot(*sweep, exit=3).stderr


def test_changed_profiles_are_refused(allot, tmp_path):
    profiles, trace = tmp_path / "profiles.csv", tmp_path / "trace.csv"
    profiles.write_text("profile,gpu_type,gpus,rate\nmine,v100,1,1\n")
    trace.write_text("job_id,submit_s,gpus,duration_s,model\na,0,1,600,mine\n")
    sweep = ["sweep", "--workload", trace, "--catalogue", profiles, "--clusters", "2x4", "-p", "fifo", "--out",
             tmp_path / "out", "-q"]
    allot(*sweep)
    profiles.write_text(profiles.read_text() + "mine,v100,2,2\n")
    assert "profiles.csv" in allot(*sweep, exit=3).stderr


def test_files_in_toml_and_json_mean_the_same(allot, whole, tmp_path):
    settings = {"workload": "law:blox", "profile": "blox", "rigid": True, "clusters": "4x4", "jobs": 300, "rates": [0.3, 0.6, 0.9],
                "seeds": "0..2", "policies": ["fifo", "las"], "window-jobs": "100..199"}
    (tmp_path / "a.json").write_text(json.dumps(settings))
    (tmp_path / "a.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))
    for name in ("json", "toml"):
        allot("sweep", tmp_path / f"a.{name}", "--out", tmp_path / name, "-q")
        assert_equal_results(tmp_path / name, whole)


@pytest.mark.parametrize("text, said", [
    ("polices = ['fifo']", "did you mean 'policies'?"),
    ("policies = ['fifoo']", "did you mean 'fifo'?"),
    ("policies = ['fifo'", ":1: must be TOML"),
    ("clusters = ['4y4']", "4y4"),
    ("rates = [1]", "law:NAME"),
    ("workload = 'law:blox'", "--rate"),
])
def test_faults_of_a_file_are_named(allot, tmp_path, text, said):
    (tmp_path / "bad.toml").write_text(text + "\n")
    done = subprocess_of(allot, "sweep", tmp_path / "bad.toml", "-q")
    assert said in done.stderr


@pytest.mark.parametrize("name, text", [("empty.toml", ""), ("empty.toml", "# nothing\n"), ("empty.json", "{}")])
def test_an_empty_definition_is_not_the_default_sweep(allot, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert f"{name}: a definition must hold at least 1 key" in allot("sweep", name, "--list", exit=3).stderr


@pytest.mark.parametrize("seed", ["-1", "-3..2", "1.5", "18446744073709551616", "0x10"])
def test_seeds_that_make_no_sense(allot, tmp_path, seed):
    (tmp_path / "sweep.toml").write_text(f"seeds = '{seed}'\n")
    for arguments in (["sweep.toml"], [f"--seeds={seed}"]):
        said = allot("sweep", *arguments, "--workload", "law:blox", "--rates", "3", "--jobs", "20", "--list", exit=2).stderr
        place = arguments[0] if len(arguments[0].split("=")) == 1 else "command line"
        assert f"{place}: 'seeds' must be whole numbers from 0" in said and f"'{seed.split('..')[0]}', value 1 of" in said


def subprocess_of(allot, *arguments):
    """Runs what must fail as a mistake in usage (2) or in a file (3)."""
    try:
        return allot(*arguments, exit=2)
    except AssertionError:
        return allot(*arguments, exit=3)


def test_table_and_json_agree(allot, whole):
    sweep = ["sweep", *SWEEP, "--out", whole]
    table = json.loads(allot(*sweep, "--json").stdout)["table"]
    assert len(table) == 6
    assert all(row["seeds"] == 3 and row["avg_jct_s"]["low"] < row["avg_jct_s"]["mean"] < row["avg_jct_s"]["high"] for row in table)
    text = allot(*sweep).stdout
    assert "avg JCT" in text and "95 % interval" in text


def test_report_draws_a_sweep(allot, whole, tmp_path):
    allot("report", whole, "-o", tmp_path / "page.html", "-q")
    page = (tmp_path / "page.html").read_text()
    assert 'data-figure="sweep-0-sweep_jct"' in page and "panel,series,rate,jct" in page


# ---- Slurm ----


@pytest.fixture
def sbatch(tmp_path):
    """Environment with an sbatch that runs the array's tasks here and now, the first one last."""
    tools = tmp_path / "bin"
    tools.mkdir()
    program = tools / "sbatch"
    program.write_text(
        "#!/bin/sh\n"
        '[ "$1" = --parsable ] || exit 1\n'
        "last=$(sed -n 's/^#SBATCH --array=1-//p' \"$2\")\n"
        "for task in $(seq \"$last\" -1 1); do SLURM_ARRAY_TASK_ID=$task sh \"$2\" >/dev/null || exit 1; done\n"
        "echo 4711\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}


def test_slurm_array_gives_the_same_results(allot, whole, sbatch, tmp_path):
    out = tmp_path / "a sweep"
    said = allot("sweep", *SWEEP, "--out", out, "--slurm", "--slurm-tasks", "4", env=sbatch).stdout
    assert "submitted job 4711: 4 tasks for 18 cells" in said
    assert_equal_results(out, whole)


def test_slurm_script_only_writes_the_script(allot, tmp_path):
    script = tmp_path / "array.sh"
    allot("sweep", *SWEEP, "--out", tmp_path / "out", "--slurm-script", script, "--slurm-option", "partition=gpu")
    assert "#SBATCH --array=1-16\n" in script.read_text() and "#SBATCH --partition=gpu\n" in script.read_text()
    assert not (tmp_path / "out" / "done").exists()


def test_without_sbatch_it_says_so(allot, tmp_path):
    said = allot("sweep", *SWEEP, "--out", tmp_path / "out", "--slurm", env={"PATH": str(tmp_path)}, exit=1).stderr
    assert "'sbatch'" in said and "--slurm-script" in said


def test_a_refusing_sbatch_is_named(allot, tmp_path):
    program = tmp_path / "sbatch"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    said = allot("sweep", *SWEEP, "--out", tmp_path / "out", "--slurm", env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, exit=1).stderr
    assert "sbatch refused" in said and "exit code 3" in said


RISING = ["--workload", "law:gavel:multi=false", "--rigid", "--clusters", "6:6:6", "--jobs", "150", "--rates", "0.4..4/0.4",
          "--until-utilisation", "0.6", "--seeds", "0,1", "--policies", "fifo,las", "--quiet"]


def test_a_rise_ends_at_its_limit_and_says_where(allot, tmp_path):
    told = allot("sweep", *RISING, "--out", tmp_path / "out").stdout
    with open(tmp_path / "out" / "cells.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for policy in ("fifo", "las"):
        use = {}
        for row in rows:
            if row["policy"] == policy:
                use.setdefault(float(row["rate"]), []).append(float(row["arrivals_use"]))
        means = [sum(values) / len(values) for _, values in sorted(use.items())]
        assert all(len(values) == 2 for values in use.values()) and len(use) < 10
        assert means[-1] >= 0.6 and all(mean < 0.6 for mean in means[:-1])
        assert f"policy {policy}: reached its limit at rate {max(use):g}" in told


def test_shards_rise_as_one_process_does(allot, tmp_path):
    allot("sweep", *RISING, "--out", tmp_path / "whole")
    for shard in (1, 2):
        allot("sweep", *RISING, "--out", tmp_path / "shards", "--shard", f"{shard}/2")
    assert_equal_results(tmp_path / "shards", tmp_path / "whole")


def test_a_cell_that_is_cut_off_has_no_jct(allot, tmp_path):
    allot("sweep", "--workload", "law:gavel:multi=false", "--rigid", "--clusters", "1:1:1", "--jobs", "50", "--rates", "2",
          "--policies", "fifo", "--cutoff", "100h", "--out", tmp_path / "out", "--quiet")
    with open(tmp_path / "out" / "cells.csv", newline="") as file:
        row = next(csv.DictReader(file))
    assert row["cut_off"] == "true" and row["avg_jct_s"] == "" and 0 < int(row["unfinished"]) <= 50
    assert float(row["end_s"]) <= 360000


def test_a_window_says_what_it_hides(allot, tmp_path):
    done = allot("sweep", "--workload", "law:gavel:multi=false", "--rigid", "--clusters", "1:1:1", "--jobs", "150", "--rates", "0.25",
                 "--policies", "srtf", "--length-estimates", "true", "--window-jobs", "20..59", "--out", tmp_path / "out", "--quiet")
    with open(tmp_path / "out" / "cells.csv", newline="") as file:
        hidden = int(next(csv.DictReader(file))["hidden"])
    assert "Only jobs of --window-jobs 20..59 are counted" in done.stdout
    assert hidden > 0 and f"policy srtf: {hidden} jobs outside the window" in done.stdout


def test_a_wrong_window_makes_no_folder(allot, tmp_path):
    sweep = ["sweep", "--workload", "law:gavel:multi=false", "--rigid", "--clusters", "1:1:1", "--jobs", "20", "--rates", "0.25",
             "--policies", "fifo", "--quiet", "--out", tmp_path / "out"]
    for window, message in ((["--window-time", "soon..2d"], "got 'soon'"), (["--window-jobs", "1M..2M"], "got '1M..2M'"),
                            (["--window-jobs", "5..99"], "needs at least 100 jobs")):
        assert message in allot(*sweep, *window, exit=2).stderr
        assert message in allot(*sweep, *window, "--list", exit=2).stderr
        assert not (tmp_path / "out").exists()
    allot(*sweep, "--window-jobs", "5..9")


def test_the_report_of_a_sweep_has_distributions_and_fairness(allot, tmp_path):
    allot("sweep", *RISING, "--out", tmp_path / "out")
    allot("report", tmp_path / "out", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for chart in ("sweep_jct_cdf", "sweep_fairness_cdf", "sweep_fairness", "sweep_makespan"):
        assert f'data-figure="sweep-0-{chart}"' in page


def test_a_throughput_table_is_explained(allot, tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text("profile,gpus,v100,h100\nsmall,1,10,30\nsmall,2,19,\nlarge,1,,8\n")
    told = json.loads(allot("trace", "inspect", table, "--json").stdout)
    assert [(each["gpu_type"], each["profiles"], each["gpus"]) for each in told["types"]] == [
        ("v100", ["small"], [1, 2]), ("h100", ["small", "large"], [1])]
    assert told["profiles"][1]["relative_speeds"] == {"h100": 1.0}, "an unmeasured type is absent"


def test_jobs_are_fitted_to_a_throughput_table(allot, tmp_path):
    (tmp_path / "mine.csv").write_text("profile,gpus,v100,h100\nsmall,1,10,30\nlarge,1,,8\n")
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s,model\na,0,1,100,small\nb,0,1,100,large\nc,0,1,100,none\n")
    told = json.loads(allot("trace", "inspect", tmp_path / "jobs.csv", "--catalogue", tmp_path / "mine.csv", "--json").stdout)
    assert {each["gpu_type"]: each["jobs"] for each in told["types"]} == {"v100": 1, "h100": 2}
    assert told["jobs"]["on_no_type"] == 1 and "'none'" in told["jobs"]["example"]


def test_a_new_gpu_type_is_one_column(allot, tmp_path):
    (tmp_path / "mine.csv").write_text("profile,gpus,v100,h100\nsmall,1,10,30\nlarge,1,8,\n")
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s,model\na,0,1,3000,small\nb,0,1,3000,large\n")
    allot("simulate", "--workload", tmp_path / "jobs.csv", "--catalogue", tmp_path / "mine.csv", "--cluster", "1x1:h100,1x1:v100",
          "--policy", "fifo", "--out", tmp_path / "run")
    with open(tmp_path / "run" / "jobs.csv", newline="") as file:
        ends = {row["job_id"]: float(row["finish_s"]) for row in csv.DictReader(file)}
    assert ends == {"a": 3000, "b": 3000}, "each on the type that it was measured on"
