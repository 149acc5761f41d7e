"""GPU types: how they are spelt, which a cluster lacks, and node lists that tell too little."""

import json
import re
import subprocess
from pathlib import Path

import pytest

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"
TYPES = str(CASES / "types.csv")
TABLE = ["--workload", str(CASES / "t_type.csv"),
         "--columns", "id=id,submit=submit,duration=duration,gpus=gpus,gpu_types=gpu_type"]


def test_types_of_vendors_are_those_of_the_cluster(allot, tmp_path):
    found = json.loads(allot("whatif", TYPES, "--cluster", "1x4:a100,1x4:v100", "--policies", "fifo", "--json").stdout)
    assert (found["jobs"], found["jobs_without_type"]) == (2, 0)
    allot("simulate", *TABLE, "--cluster", "1x1:a100,1x1:v100", "--policy", "fifo", "--out", "run")
    ends = [line.split(",") for line in (tmp_path / "run" / "jobs.csv").read_text().splitlines()]
    at = ends[0].index("finish_s")
    assert len({float(row[at]) for row in ends[1:]}) == 1, "each ran at once, on its own type"


def test_what_if_begins_with_the_type_of_the_jobs_that_it_leaves_out(allot):
    text = allot("whatif", TYPES, "--cluster", "1x4:a100,1x4:k80", "--policies", "fifo").stdout
    findings = [line for line in text.splitlines() if line.startswith(("1 of", "Jobs waited", "The present"))]
    assert findings[0].startswith("1 of 2 jobs") and "'tesla_v100' (1 job)" in findings[0] and "--type-map" in findings[0]
    mapped = json.loads(allot("whatif", TYPES, "--cluster", "1x4:a100,1x4:k80", "--type-map", "V100=k80",
                              "--policies", "fifo", "--json").stdout)
    assert (mapped["jobs"], mapped["jobs_without_type"]) == (2, 0)
    nothing = allot("whatif", TYPES, "--cluster", "1x8:mi300x", "--policies", "fifo", exit=3).stderr
    assert "'tesla_v100' (1 job)" in nothing and "'a100' (1 job)" in nothing and "1x8:mi300x" in nothing


@pytest.mark.parametrize("command", [["simulate"], ["compare", "--policies", "fifo"]])
def test_a_type_that_the_cluster_lacks_ends_a_simulation(allot, command):
    stderr = allot(*command, *TABLE, "--cluster", "1x1:a100,1x1:k80", exit=3).stderr
    assert "1 job asks for 'Tesla V100-SXM2-32GB' (first: '2'" in stderr and "a100, k80" in stderr
    allot(*command, *TABLE, "--cluster", "1x1:a100,1x1:k80", "--type-map", "v100=k80")
    assert "no job names the GPU type 'h100'" in allot(
        *command, *TABLE, "--cluster", "1x1:a100", "--type-map", "h100=a100", exit=2).stderr


def test_sweeps_take_type_maps(allot, tmp_path):
    (tmp_path / "study.toml").write_text(
        f'workload = "{CASES / "t_type.csv"}"\ncolumns = "{TABLE[-1]}"\nclusters = ["1x1:a100,1x1:k80"]\n'
        'policies = ["fifo"]\ntype-map = "v100=k80"\n')
    assert len(json.loads(allot("sweep", "study.toml", "--json").stdout)["cells"]) == 1


def test_inspect_lists_the_types(allot):
    text = allot("trace", "inspect", TYPES).stdout
    assert re.search(r"^GPU type +jobs", text, re.M) and re.search(r"^  tesla_v100 +1 ", text, re.M)
    assert "gpu_types=gpu_type" in allot("trace", "inspect", CASES / "t_type.csv").stdout
    groups = json.loads(allot("trace", "inspect", TYPES, "--json").stdout)["by_gpu_type"]
    assert {group["label"]: group["jobs"] for group in groups} == {"a100": 1, "tesla_v100": 1}


def test_a_node_list_without_counts_is_refused(allot):
    stderr = allot("simulate", *TABLE, "--cluster", CASES / "bug-04.txt", exit=3).stderr
    assert "'gpu:nvidia_h100_80gb'" in stderr and "bug-04.txt:3" in stderr and 'sinfo -N -o "%N %G %c %m %t"' in stderr


@pytest.mark.parametrize("name", ["sinfo.txt", "nodes.xml", "there/nodes"])
def test_a_node_list_that_is_not_there_is_named(allot, name):
    assert f"no file '{name}'" in allot("whatif", TYPES, "--cluster", name, exit=3).stderr


def test_lines_on_standard_error_stand_between_whole_lines(program, tmp_path):
    with open(tmp_path / "both.txt", "w", encoding="utf-8") as both:
        subprocess.run([program, "whatif", TYPES, "--cluster", "1x4:a100,1x4:v100", "-o", "w.html"], cwd=tmp_path,
                       stdout=both, stderr=subprocess.STDOUT, check=True)
    assert "\nreport: w.html (open it in a browser)\n" in (tmp_path / "both.txt").read_text()
    assert (tmp_path / "both.txt").read_text().endswith("in a browser)\n")


LOADED = str(CASES / "bug-08.csv")
TWO_TYPES = ["--cluster", "10x8:a10,20x8:a100"]


def test_load_use_and_queueing_are_told_by_type(allot, tmp_path):
    done = allot("compare", LOADED, *TWO_TYPES, "--policies", "fifo,easy,srtf", "--rigid", "--out", "o")
    assert re.search(r"Demand by type: a10 1\.51 \(80 GPUs\), a100 0\.02 \(160 GPUs\)", done.stdout)
    assert "1.51 times the GPU time that the 80 GPUs of type 'a10'" in done.stderr
    runs = json.loads((tmp_path / "o" / "evaluation.json").read_text())["policies"]
    for policy in runs:
        a10, a100 = policy["runs"][0]["gpu_types"]
        used = (80 * a10["gpu_utilisation"] + 160 * a100["gpu_utilisation"]) / 240
        assert used == pytest.approx(policy["runs"][0]["gpu_utilisation"])
        assert (a10["jobs"], a100["jobs"], a100["avg_queueing_s"]) == (200, 50, 0)
        assert 0.8 * a10["avg_queueing_s"] == pytest.approx(policy["runs"][0]["avg_queueing_s"])
    allot("report", "o", "--out", "o.html")
    assert "By GPU type" in (tmp_path / "o.html").read_text()
    (tmp_path / "study.toml").write_text(
        f'workload = "{LOADED}"\nclusters = ["{TWO_TYPES[1]}"]\npolicies = ["fifo"]\n')
    cells = allot("sweep", "study.toml", "--json", "--out", "s").stdout
    assert json.loads(cells)["cells"][0]["summary"]["gpu_types"][0]["demand"] == pytest.approx(1.5075, abs=1e-4)
    assert "a10=1.50" in (tmp_path / "s" / "cells.csv").read_text()


def test_what_if_adds_nodes_of_the_type_that_lacks(allot):
    found = json.loads(allot("whatif", LOADED, *TWO_TYPES, "--policies", "fifo", "--json").stdout)
    assert [load["demand"] > 1 for load in found["demand_by_type"]] == [True, False]
    more = next(s for s in found["scenes"] if s["kind"] == "nodes")
    present = next(s for s in found["scenes"] if s["kind"] == "present")
    assert more["title"] == "easy, 3 more nodes" and more["cluster"].endswith(",3x8:a10")
    assert more["avg_wait_s"] < 0.5 * present["avg_wait_s"]
    assert any("GPUs of type a10" in finding and "queue grows" in finding for finding in found["findings"])
    assert [(group["name"], group["jobs"]) for group in found["gpu_types"]] == [("a10", 200), ("a100", 50)]


def test_the_smallest_number_of_nodes_for_a_mean_wait_is_found(allot):
    def wait(nodes):
        found = json.loads(allot("whatif", LOADED, *TWO_TYPES, "--policies", "fifo", "--more-nodes", nodes, "--json").stdout)
        return next(s for s in found["scenes"] if s["kind"] == "nodes")["avg_wait_s"]

    done = allot("whatif", LOADED, *TWO_TYPES, "--policies", "fifo", "--target-wait", "8m", "--json")
    target = json.loads(done.stdout)["target"]
    assert target["wait_s"] == 480 and target["nodes"] > 1
    assert wait(target["nodes"]) == target["reached_wait_s"] <= 480 < target["one_less_wait_s"] == wait(target["nodes"] - 1)
    text = allot("whatif", LOADED, *TWO_TYPES, "--policies", "fifo", "--target-wait", "5h").stdout
    assert "needs no more nodes" in text
    assert "--more-nodes" in allot("whatif", LOADED, *TWO_TYPES, "--target-wait", "8m", "--more-nodes", "1", exit=2).stderr
