"""The examples of python/examples run as they stand, with small arguments, and say what they promise."""

import json
import os
import re
import subprocess
import sys

import pytest

# Most tests take longer than 10 s: each trains policies as its example does.
pytest.importorskip("allot")

NOTEBOOK = """
import json, sys
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), sys.argv[1], "exec"), globals())
"""


def run(root, folder, *arguments):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture
def example(root, tmp_path):
    """example("own_policy.py", "--load", 1): its output, run in a folder of its own."""

    def run_it(name, *arguments):
        return run(root, tmp_path, root / "python" / "examples" / name, *map(str, arguments))

    return run_it


def test_every_example_is_run_here(root):
    tested = set(re.findall(r'[a-z0-9_]+\.(?:py|ipynb)"', open(__file__, encoding="utf-8").read()))
    found = {path.name for path in (root / "python" / "examples").iterdir() if path.suffix in (".py", ".ipynb")}
    assert {name.rstrip('"') for name in tested} >= found


def test_own_policy_stands_in_the_table(example):
    out = example("own_policy.py", "--span", "12h", "--load", 1.0)
    assert all(name in out for name in ("OldestFirst", "fifo", "srtf", "index"))


def test_own_reward_is_another_number(example):
    totals = re.findall(r"(-?[\d.]+) after", example("own_reward.py", "--decisions", 40))
    assert len(totals) == 2 and totals[0] != totals[1] and all(float(total) < 0 for total in totals)


def test_torchrl_takes_legal_actions_only(example):
    pytest.importorskip("torchrl")
    assert "all legal: True" in example("torchrl_rollout.py", "--steps", 300)


def test_ppo_in_a_single_file_ends_episodes(example):
    pytest.importorskip("torch")
    out = example("ppo_single_file.py", "--steps", 8192, "--envs", 8, "--length", 512)
    assert len(re.findall(r"average JCT \d+ s", out)) == 2


def test_what_is_learned_from_a_log_stands_beside_its_teachers(example):
    pytest.importorskip("torch")
    pytest.importorskip("h5py")
    small = ("--episodes", 1, "--held-out", 2, "--updates", 300, "--span", "6h")
    out = example("offline_bc.py", *small)
    assert all(re.search(rf"^>? *{name} +\d", out, re.MULTILINE) for name in ("cloned", "awr", "index", "las", "fifo"))
    assert "on 2 unseen workloads" in out
    # A network that has hardly learned has about 2.
    assert len(losses := re.findall(r"choice: ([\d.]+)", out)) == 2 and all(float(loss) < 1 for loss in losses)


def test_maskable_ppo_is_compared_with_optimus(example):
    pytest.importorskip("sb3_contrib")
    out = example("maskable_ppo_sb3.py", "--minutes", 0.2, "--episodes", 4)
    assert re.search(r"drawn actions: average JCT (\d+|inf) s, Optimus \d+ s, ratio", out)


def test_ppo_on_an_own_trace_stands_beside_others(example):
    pytest.importorskip("sb3_contrib")
    out = example("own_trace_ppo.py", "--steps", 2048, "--envs", 1, "--workloads", 1)
    assert all(re.search(rf"^>? *{name} +\d", out, re.MULTILINE) for name in ("ppo", "srtf", "fifo")), out


def test_the_notebook_runs_from_top_to_bottom(root, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    notebook = root / "python" / "examples" / "your_trace_in_fifteen_minutes.ipynb"
    assert "average JCT" in run(root, tmp_path, "-c", NOTEBOOK, notebook)
    cells = json.loads(notebook.read_text())["cells"]
    assert all(not cell.get("outputs") for cell in cells), "clear the outputs before you commit"
