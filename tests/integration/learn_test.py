"""allot learn: from a trace to an accepted policy that is never worse than its rule."""

import json
import random
import signal
import subprocess
import time

import pytest

CLUSTER = ["--cluster", "2x4"]
SMALL = [*CLUSTER, "--iterations", "2", "--quiet"]


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Rigid jobs of two users; one user's jobs are all short."""
    draw = random.Random(3)
    path = tmp_path_factory.mktemp("trace") / "jobs.csv"
    rows, now = ["job_id,submit_s,gpus,duration_s,user"], 0.0
    for job in range(120):
        now += draw.expovariate(1 / 900)
        user = draw.choice(["quick", "slow"])
        length = draw.uniform(60, 300) if user == "quick" else draw.uniform(3600, 20000)
        rows.append(f"j{job},{now:.0f},{draw.choice([1, 2, 4])},{length:.0f},{user}")
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def learned(program, training, trace, tmp_path_factory):
    """A finished run. Read-only."""
    out = tmp_path_factory.mktemp("learn") / "run"
    done = subprocess.run([program, "learn", "--workload", trace, *SMALL, "--out", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out, done.stdout


def result_of(out):
    return json.loads((out / "learn.json").read_text())["result"]


def test_the_parts_are_measured_in_their_order(learned):
    out, text = learned
    result = result_of(out)
    assert [part["name"] for part in result["parts"]] == ["default rule", "tuned", "+ lengths", "+ network"]
    assert "60 jobs to learn from, then 24 to choose by, then 36 for the test" in result["periods"]
    for part in result["parts"]:
        assert part["name"] in text
        assert (part["unseen_of_default"] is not None) and (part["name"] == "default rule" or part["validation_of_before"])


def test_a_network_counts_only_with_its_whole_interval(learned):
    network = result_of(learned[0])["parts"][-1]
    assert network["kept"] == (network["validation_of_before"]["interval"][1] < 0.9995)


def test_without_a_network_the_policy_is_the_rule(allot, trace, learned):
    out, _ = learned
    result = result_of(out)
    if result["parts"][-1]["kept"] or "gittins" in result["rule"]:
        pytest.skip("a network or a forecast was accepted on this machine")
    world = ["--workload", trace, *CLUSTER, "--length-estimates", "none"]
    done = allot("compare", *world, "--policies", f"a=learned:checkpoint={out / 'policy'},b={result['rule']}", "--json")
    a, b = json.loads(done.stdout)["policies"]
    assert a["runs"][0]["avg_jct_s"] == b["runs"][0]["avg_jct_s"]


def test_evaluate_gives_the_policy_the_lengths_that_it_was_made_for(allot, trace, learned):
    evaluate = ["evaluate", "--checkpoint", learned[0] / "policy", "--workload", trace, *CLUSTER, "--against", "srtf"]
    done = allot(*evaluate)
    assert "policies get job lengths 'none', as where this one was made" in done.stderr
    assert "get: none" in done.stdout
    assert "get: the true lengths" in allot(*evaluate, "--length-estimates", "true").stdout


def test_what_repeats_the_run_gives_the_same_policy(program, trace, learned, tmp_path):
    subprocess.run([program, "learn", "--workload", trace, *SMALL, "--out", tmp_path / "again"], check=True, capture_output=True)
    again = json.loads((tmp_path / "again" / "policy" / "manifest.json").read_text())
    first = json.loads((learned[0] / "policy" / "manifest.json").read_text())
    weights = [{name: entry for name, entry in manifest["files"].items() if "safetensors" in name} for manifest in (again, first)]
    assert weights[0] == weights[1] and weights[0]


def test_its_report_shows_the_parts(learned):
    page = (learned[0] / "report.html").read_text()
    assert "+ network" in page and "all lengths known" in page


def test_a_folder_with_a_run_is_kept(allot, trace, learned):
    done = allot("learn", "--workload", trace, *SMALL, "--out", learned[0], exit=2)
    assert "contains a run of learn: add --resume to continue it, or choose another --out" in done.stderr


def test_resume_with_other_options_names_both(allot, trace, learned):
    done = allot("learn", "--workload", trace, "--cluster", "4x4", "--iterations", "2", "--quiet", "--resume",
                 "--out", learned[0], exit=2)
    assert "--resume needs the options of the run: world was" in done.stderr


def test_a_trace_that_is_too_small_gives_the_default_rule(allot, training, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("job_id,submit_s,gpus,duration_s\n" + "".join(f"j{k},{60 * k},1,{600 * (k + 1)}\n" for k in range(12)))
    done = allot("learn", "--workload", path, *CLUSTER, "--out", tmp_path / "run")
    assert "12 jobs cannot be divided in time to learn from (40 at different times are the fewest)" in done.stderr
    assert "The trace is too small to learn from: the accepted policy is the default rule index." in done.stdout
    world = ["--workload", path, *CLUSTER, "--length-estimates", "none"]
    policies = f"mine=learned:checkpoint={tmp_path / 'run' / 'policy'},index"
    mine, index = json.loads(allot("compare", *world, "--policies", policies, "--json").stdout)["policies"]
    assert mine["runs"][0]["avg_jct_s"] == index["runs"][0]["avg_jct_s"]


def test_an_interrupt_ends_the_training_and_tests_what_was_best(program, training, trace, tmp_path):
    out = tmp_path / "run"
    arguments = [program, "learn", "--workload", trace, *CLUSTER, "--iterations", "50000", "--out", out]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        deadline = time.monotonic() + 120
        while running.poll() is None and not (out / "train" / "best").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=120)
    assert running.returncode == 0, stderr
    assert "stopped: what was best so far is validated and tested" in stderr
    assert result_of(out)["interrupted"] and "--resume continues it" in stdout


def test_rates_that_policies_do_not_know_are_a_row(allot, training, trace, learned):
    done = allot("learn", "--setting", "pollux:load=0.05", "--iterations", "1", "--quiet", "--json", "--out", "run")
    assert json.loads(done.stdout)["learned_speeds_of_accepted"]["mean"] > 0
    assert result_of(learned[0])["learned_speeds_of_accepted"] is None, "all speeds are known there"


def test_a_network_that_pays_is_accepted_and_below_every_policy(allot, training, tmp_path):
    """DL2's small world, where 400 workloads of ten jobs tell half a per cent."""
    done = allot("learn", "--setting", "dl2:size=S", "--iterations", "100", "--quiet", "--json", "--out", "run")
    result = json.loads(done.stdout)
    assert result["parts"][-1]["kept"]
    evaluation = json.loads((tmp_path / "run" / "evaluate" / "evaluation.json").read_text())
    assert len(evaluation["workloads"]) == 400
    assert result["unseen_of_rule"]["interval"][1] < 1


def test_several_loads_need_no_number_of_workloads(allot, training):
    done = allot("learn", "--rigid", "--cluster", "2x4", "--load", "0.5,1.0", "--to", "2017-11-03", "--iterations", "1", "--quiet",
                 "--json", "--out", "run")
    assert json.loads(done.stdout)["parts"]
