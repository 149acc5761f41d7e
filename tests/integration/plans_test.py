"""allot plans as its users meet it, and its predictions against published speeds where the reference folder is beside the repository."""

import csv
import json
import os
import subprocess

import pytest

MINE = """profile,kind,gpu_type,layers,hidden,heads,ffn,vocabulary,sequence,batch,memory_gb
mine,transformer,,32,4096,32,11008,32000,4096,512,
mine,transformer,h100,,,,,,,,40
"""


@pytest.fixture
def published(root):
    folder = root.parent / "shared" / "reference" / "plans"
    if not folder.is_dir():
        pytest.skip("needs ../shared/reference/plans: not every source of the points states a licence")
    return folder


def test_plans_use_all_gpus_and_fit(allot):
    found = json.loads(allot("plans", "--profile", "llama-70b", "--gpus", "64", "--top", "4", "--json").stdout)
    assert len(found["plans"]) == 4 and found["plans_tried"] > found["plans_that_fit"] > 0
    steps = [plan["step_s"] for plan in found["plans"]]
    assert steps == sorted(steps)
    for plan in found["plans"]:
        assert plan["gpus"] == 64
        assert plan["memory_gb"] <= found["usable_memory_gb"]
        assert plan["tokens_per_s"] == pytest.approx(512 * 8192 / plan["step_s"])
    assert all(plan["memory_gb"] > found["usable_memory_gb"] for plan in found["too_large"])


def test_the_curve_begins_at_the_floor(allot):
    found = json.loads(allot("plans", "--profile", "llama-405b", "--gpus", "1024", "--curve", "--json").stdout)
    assert [point["gpus"] for point in found["curve"]] == [104, 128, 192, 256, 384, 512, 768, 1024]


def test_text_names_model_plans_and_reasons(allot):
    said = allot("plans", "--profile", "mixtral-8x7b", "--gpus", "32").stdout
    assert "billion parameters" in said and "splits do not fit" in said and "Predicted, not measured" in said


def test_own_models_and_gpu_types(allot, tmp_path):
    (tmp_path / "mine.csv").write_text(MINE)
    plans = ["plans", "--catalogue", "mine.csv", "--profile", "mine", "--gpus", "4", "--json"]
    assert json.loads(allot(*plans).stdout)["usable_memory_gb"] == pytest.approx(36.5)
    assert json.loads(allot(*plans, "--gpu-type", "h200").stdout)["usable_memory_gb"] == pytest.approx(147.2)


@pytest.mark.parametrize("options, message", [
    (["--profile", "lama-70b", "--gpus", "64"], "unknown throughput profile 'lama-70b' (did you mean 'llama-70b'?)"),
    (["--profile", "llama-70b", "--gpus", "64", "--gpu-type", "h10"], "GPU type 'h10' has no known facts (did you mean 'h100'?)"),
    (["--profile", "llama-405b", "--gpus", "64"], "'llama-405b' needs at least 104 GPUs of type h100, got 64: the smallest of"),
    (["--profile", "llama-7b", "--gpus", "13"], "no plan of 'llama-7b' divides evenly over 13 GPUs of type h100"),
    (["--profile", "resnet18:16", "--catalogue", "embedded", "--gpus", "8"], "'resnet18:16' of 'embedded' is not one"),
])
def test_what_cannot_be_is_refused(allot, options, message):
    assert message in allot("plans", *options, exit=3).stderr


def test_faults_of_a_catalogue_name_line_and_rule(allot, tmp_path):
    (tmp_path / "mine.csv").write_text(MINE.replace("4096,512", "4096,0"))
    said = allot("plans", "--catalogue", "mine.csv", "--profile", "mine", "--gpus", "4", exit=3).stderr
    assert "'batch' must be a whole number from 1 to 16777216, got '0' (mine.csv:2)" in said
    (tmp_path / "mine.csv").write_text(MINE.replace("heads", "haeds"))
    said = allot("plans", "--catalogue", "mine.csv", "--profile", "mine", "--gpus", "4", exit=3).stderr
    assert "no kind of throughput model has a column 'haeds'" in said and "mine.csv:1" in said


def test_a_job_that_is_too_large_names_what_it_needs(allot, tmp_path):
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s,model\na,0,8,600,llama-405b\n")
    simulate = ["simulate", "--workload", "jobs.csv", "--catalogue", "transformers", "--policy", "fifo"]
    said = allot(*simulate, "--cluster", "8x8:h100", exit=3).stderr
    assert "profile 'llama-405b' needs at least 104 GPUs of type h100" in said


def test_published_speeds_are_predicted(allot, published):
    found = json.loads(allot("reproduce", "plans", "--reference", published, "--json").stdout)
    points, blind = found["points.csv"], found["points_blind.csv"]
    assert points["fit"] >= 280 and points["points"] == 307
    held_out = {errors["group"]: errors for errors in points["errors"]}["held out"]
    assert held_out["points"] == 282 and held_out["median"] <= 0.07 and held_out["p90"] <= 0.20
    assert blind["errors"][0]["median"] <= 0.09 and blind["errors"][0]["p90"] <= 0.20


def test_a_point_that_cannot_be_names_its_line(allot, published, tmp_path):
    for name in ("points.csv", "points_blind.csv"):
        (tmp_path / name).write_text((published / name).read_text())
    lines = (tmp_path / "points.csv").read_text().splitlines()
    lines[3] = lines[3].replace("gpt-7.5b", "gpt-7.6b")
    (tmp_path / "points.csv").write_text("\n".join(lines) + "\n")
    assert "unknown throughput profile 'gpt-7.6b'" in allot("reproduce", "plans", "--reference", ".", exit=3).stderr


TYPES = {"a100-80": "a100", "h100": "h100", "h200": "h200", "b200": "b200"}


def test_curves_are_those_of_the_reference(allot, published):
    with (published / "catalogue_best.csv").open() as file:
        best = {(row["profile"], TYPES[row["gpu_type"]], int(row["gpus"])): float(row["rate"]) for row in csv.DictReader(file)}
    for profile, gpu_type in sorted({key[:2] for key in best}):
        curve = json.loads(allot("plans", "--profile", profile, "--gpu-type", gpu_type, "--gpus", "1024", "--curve",
                                 "--json").stdout)["curve"]
        assert len(curve) >= 6
        for point in curve:
            wanted = best[profile, gpu_type, point["gpus"]]
            assert point["tokens_per_s"] == pytest.approx(wanted, rel=1e-3), (profile, gpu_type, point)


def test_a_script_gets_the_options_of_its_framework(program):
    plan = "dp=8 tp=4 pp=2 vp=5 cp=1 ep=1 zero=1 micro_batch=1 recompute=none global_batch=512 layers=80"

    def run(*words, **variables):
        environment = {key: value for key, value in os.environ.items() if key not in ("ALLOT_PLAN", "SLURM_JOB_ID")}
        return subprocess.run([program.parent / "allot-elastic", "plan", *words], env=environment | variables, text=True,
                              capture_output=True, check=False)

    assert run(ALLOT_PLAN=plan).stdout == plan + "\n"
    assert run("--for", "megatron", ALLOT_PLAN=plan).stdout.startswith("--tensor-model-parallel-size 4 --sequence-parallel ")
    assert "neither ALLOT_PLAN nor SLURM_JOB_ID is set" in run().stderr
    refused = run("--plan", "dp=8", "--for", "nemo")
    assert refused.returncode == 3 and "a plan must have a part 'tp', got 'dp=8' (--plan)" in refused.stderr
