"""The contest: `allot score` on the small suite, `allot scoreboard`, and the board of the documents."""

import json
import os
import shutil
import subprocess
import sys

import pytest

UNIVERSAL = "universal=learned:checkpoint={root}/checkpoints/universal/accepted"


def score(program, folder, name, *words):
    out = folder / f"{name}.json"
    done = subprocess.run([program, "--quiet", "score", "--suite", "small", *words, "--out", out], cwd=folder,
                          capture_output=True, text=True, check=False)
    return (json.loads(out.read_text()) if out.exists() else None), done


@pytest.fixture(scope="module")
def scored(program, root, tmp_path_factory):
    """(result, stderr, folder with universal.json)"""
    folder = tmp_path_factory.mktemp("score")
    result, done = score(program, folder, "universal", "--salt", "ci", "-p", UNIVERSAL.format(root=root) + ",allox")
    assert done.returncode == 0, done.stderr
    return result, done.stderr, folder


def test_a_result_names_its_inputs_and_seeds(scored, root):
    result, _, _ = scored
    assert (result["suite"], result["salt"]) == ("small", "ci")
    assert result["version"] and "score" in result["command"]
    assert f"{root}/checkpoints/universal/accepted" in result["inputs"]
    assert len({task["first_seed"] for task in result["tasks"]}) == len(result["tasks"]) == 3


def test_the_universal_policy_beats_the_published_rules(scored):
    result, _, _ = scored
    universal = next(each for each in result["aggregates"] if each["policy"] == "universal")
    value, low, high = universal["geometric_mean_to_best_rule"]
    assert low <= value <= high < 1
    assert universal["interquartile_mean_to_best_rule"][0] < 1
    for task in result["tasks"]:
        entry = task["entries"][0]
        assert set(entry) > {"jct_to_best_rule", "jct_to_tuned", "p99_to_tuned", "unfair_to_tuned"}, task["task"]
        assert entry["training"] == "unseen" or task["task"].startswith("Philly")


def test_a_policy_that_cannot_play_a_task_is_reported(scored):
    result, stderr, _ = scored
    allox = {task["task"]: task["entries"][1] for task in result["tasks"]}
    assert "absent" not in allox["GavelBatch-v1"]
    assert "gavel only" in allox["Dl2S-v1"]["absent"]
    assert "absent: allox cannot play Dl2S-v1" in stderr
    aggregate = next(each for each in result["aggregates"] if each["policy"] == "allox")
    assert aggregate["geometric_mean_to_best_rule"] == [None, None, None]


def test_a_policy_that_can_play_no_task_is_an_error(program, tmp_path):
    result, done = score(program, tmp_path, "none", "-p", "sia:no-such-parameter=1")
    assert result is None and done.returncode == 2
    assert "cannot play any task of suite small" in done.stderr


@pytest.mark.parametrize("policy, fault", [
    ("allox=las", "a name for a policy must not be that of another one, got 'allox'"),
    ("tuned=las", "'tuned' is the tuned rule of each task"),
    ("las,las", "policy 'las' is named twice"),
])
def test_a_name_stands_for_one_policy(program, tmp_path, policy, fault):
    result, done = score(program, tmp_path, "name", "-p", policy)
    assert result is None and done.returncode == 2 and fault in done.stderr


def test_one_salt_gives_the_same_bytes_and_another_gives_other_workloads(program, tmp_path):
    first, _ = score(program, tmp_path, "a", "--salt", "one", "-p", "fifo")
    again, _ = score(program, tmp_path, "b", "--salt", "one", "-p", "fifo", "--threads", "1")
    other, _ = score(program, tmp_path, "c", "--salt", "two", "-p", "fifo")
    assert first["tasks"] == again["tasks"]
    assert all(a["tuned"]["jct_s"] != b["tuned"]["jct_s"] for a, b in zip(first["tasks"], other["tasks"], strict=True))


def test_training_on_the_test_weeks_is_marked(program, root, tmp_path):
    allot = pytest.importorskip("allot")
    released = allot.load_checkpoint(root / "checkpoints" / "philly-elastic" / "accepted")
    seen = tmp_path / "seen"
    released.with_weights(released.tensors, trained_on=[
        {"workload": "embedded", "from": "2017-11-13", "to": "2017-11-20"}]).save(seen)
    result, done = score(program, tmp_path, "seen", "-p", f"mine=learned:checkpoint={seen}")
    assert done.returncode == 0, done.stderr
    marks = {task["task"]: task["entries"][0]["training"] for task in result["tasks"]}
    assert marks["PhillyRigid-v1"] == "seen"
    assert "mine (seen)" in done.stdout


def test_a_policy_in_python_that_starts_no_job_is_absent(program, tmp_path, monkeypatch):
    pytest.importorskip("allot")
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "mine.py").write_text(
        "import allot\n\n\n"
        "class First(allot.Policy):\n"
        "    def decide(self, observation):\n"
        "        return allot.Allocation(observation)\n")
    result, done = score(program, tmp_path, "python", "-p", "idle=python:mine:First")
    assert result is None and done.returncode == 2, done.stderr
    assert "'idle' cannot play any task of suite small" in done.stderr


def test_the_scoreboard_fills_the_page_between_its_marks(program, scored):
    _, _, folder = scored
    page = folder / "page.md"
    page.write_text("before\n<!-- begin of what allot scoreboard writes -->\nformer board\n"
                    "<!-- end of what allot scoreboard writes -->\nafter\n")
    done = subprocess.run([program, "scoreboard", folder / "universal.json", "--page", page, "--figure",
                           folder / "board.svg"], capture_output=True, text=True, check=True)
    assert "is first" in done.stdout
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "former board" not in text
    assert "`universal` is first" in text
    assert "universal</text>" in (folder / "board.svg").read_text()


def test_a_claim_that_does_not_hold_has_exit_code_4(program, scored):
    _, _, folder = scored
    done = subprocess.run([program, "scoreboard", folder / "universal.json", "--claim", "tuned"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 4 and "tuned is not first" in done.stderr


def test_the_board_of_the_documents_is_that_of_its_results(program, root, tmp_path):
    page = tmp_path / "scoreboard.md"
    shutil.copy(root / "docs" / "scoreboard.md", page)
    results = sorted((root / "bench" / "results" / "score").glob("*.json"))
    subprocess.run([program, "scoreboard", *results, "--page", page, "--figure", tmp_path / "scoreboard.svg"],
                   capture_output=True, check=True)
    assert page.read_text() == (root / "docs" / "scoreboard.md").read_text(), "docs/scoreboard.md says how to make it"
    figure = (root / "docs" / "figures" / "scoreboard.svg").read_text()
    assert (tmp_path / "scoreboard.svg").read_text() == figure, "docs/scoreboard.md says how to make it"
