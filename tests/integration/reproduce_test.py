"""allot reproduce as its users meet it: which runs, and what is said of a folder that is not whole."""

import json
import shutil

import pytest

RESULTS = "results/w2.Las.scattered.admit-1.2.jobs.csv"


@pytest.fixture
def reference(root, tmp_path):
    """A copy of the shipped reference folders."""
    return shutil.copytree(root / "tests" / "reference", tmp_path / "reference")


def test_shipped_runs_are_equal(allot, reference):
    peers = json.loads(allot("reproduce", "blox,dl2", "--reference", reference, "--json").stdout)
    assert [peer["peer"] for peer in peers] == ["blox", "dl2"]
    assert [len(peer["runs"]) for peer in peers] == [13, 10]
    assert all(run["verdict"] == "equal" or run["note"] for peer in peers for run in peer["runs"])


def test_only_needs_a_run_of_some_peer(allot, reference):
    reproduce = ["reproduce", "blox,dl2", "--reference", reference, "--only"]
    peers = json.loads(allot(*reproduce, "w2.*", "--json").stdout)  # a list, as of all runs
    assert [(peer["peer"], len(peer["runs"])) for peer in peers] == [("blox", 2)]
    said = allot(*reproduce, "w9.*", exit=2).stderr
    assert "'w9.*'" in said and "none of 23" in said


def test_a_lost_row_is_no_equal_run(allot, reference):
    file = reference / "blox" / RESULTS
    lines = file.read_text().splitlines(keepends=True)
    assert lines[17].startswith("16,")
    file.write_text("".join(lines[:17] + lines[18:]))
    said = allot("reproduce", "blox", "--reference", reference / "blox", exit=3).stderr
    assert RESULTS in said and "job '16' has none; got 299 rows for 300 jobs" in said


def test_one_peer_is_found_in_the_folder_of_several(allot, reference):
    told = [allot("reproduce", "pal", "--reference", folder, "--json").stdout for folder in (reference, reference / "pal")]
    runs, same = ([run["verdict"] for run in json.loads(text)["runs"]] for text in told)
    assert runs == same == ["equal", "equal"]


def test_all_runs_of_pal_are_equal(allot, root):
    folder = root.parent / "shared" / "reference"
    if not (folder / "pal").is_dir():
        pytest.skip("needs ../shared/reference/pal")
    runs = json.loads(allot("reproduce", "pal", "--reference", folder, "--json").stdout)["runs"]
    assert len(runs) >= 18
    assert [run["run"] for run in runs if run["verdict"] != "equal"] == []


@pytest.mark.parametrize("nodes", ["99999999999", "4294967304", "0", "-1"])
def test_a_cluster_that_cannot_be_is_refused(allot, reference, nodes):
    file = reference / "blox" / RESULTS.replace("jobs.csv", "summary.json")
    text = file.read_text()
    assert '"nodes": 8,' in text
    file.write_text(text.replace('"nodes": 8,', f'"nodes": {nodes},'))
    said = allot("reproduce", "blox", "--reference", reference / "blox", exit=3).stderr
    assert f"'nodes' must be a whole number from 1 to 1000000, got {nodes}" in said
