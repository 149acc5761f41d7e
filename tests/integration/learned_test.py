"""A learned policy's life after training: explained, guarded, gated, trained on from logs; and what stops a training."""

import json
import shutil
import struct
import subprocess

import h5py
import pytest

WORLD = ["--cluster", "2x8", "--load", "1.2", "--span", "1d", "--quiet"]


def read_json(path):
    return json.loads(path.read_text())


def fnv1a64(data):
    checksum = 0xCBF29CE484222325
    for byte in data:
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    return f"fnv1a64:{checksum:016x}"


@pytest.fixture(scope="session")
def checkpoint(root):
    return root / "tests" / "golden" / "checkpoint"


@pytest.fixture(scope="session")
def training(program):
    """Skips where this build does not train (ALLOT_WITH_TORCH=OFF)."""
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    if "\n  train " not in done.stdout:
        pytest.skip("built without training")


# ---- explain ----


@pytest.fixture(scope="session")
def log(program, checkpoint, tmp_path_factory):
    """The log of a run of the checkpoint. Read-only."""
    folder = tmp_path_factory.mktemp("log")
    subprocess.run([program, "simulate", *WORLD, "--policy", f"learned:checkpoint={checkpoint}", "--log", folder],
                   capture_output=True, check=True)
    return next(folder.glob("*/*"))


def logged_grants(log, decision):
    """Who got GPUs at a decision, by the log."""
    with h5py.File(log / "data" / "main_data.hdf5") as file:
        episode = file["episode_0"]
        first, last = episode["allocation/first_entry"][decision : decision + 2]
        ids = episode["workload/job_id"].asstr()[:]
        return {ids[job] for job in episode["allocation/job"][first:last]}


@pytest.mark.parametrize("decision", [0, 40, 150])
def test_explained_grants_are_those_of_the_run(allot, checkpoint, log, decision):
    explained = json.loads(allot("explain", "--checkpoint", checkpoint, "--observation", log, "--decision", decision,
                                 "--json").stdout)
    assert {job["job"] for job in explained["jobs"] if job["gets"] != "nothing"} == logged_grants(log, decision)
    for job in explained["jobs"]:
        assert job["why"]
        taken = [step["to"] for step in job["steps"] if step["outcome"] == "taken"]
        if "left over" not in job["why"] and "room" not in job["why"]:
            assert job["gets"] == (taken[-1] if taken else "nothing"), job
        for step in job["steps"]:
            key = job["u"] + step["gain"] - job["beta"] * step["level"] + (1 if step["keeps"] else -1) * job["kappa"]
            assert step["key"] == pytest.approx(key, abs=1e-4)


def test_explanation_of_one_job_names_its_features(allot, checkpoint, log):
    (name, *_) = logged_grants(log, 40)
    done = allot("explain", "--checkpoint", checkpoint, "--observation", log, "--decision", "40", "--job", name)
    assert f"job {name} has" in done.stdout and "ln smallest cost" in done.stdout and "taken" in done.stdout


def test_snapshot_is_explained_as_the_log_is(allot, checkpoint, log, tmp_path):
    saved = tmp_path / "moment.json"
    options = ["--checkpoint", checkpoint, "--json"]
    of_log = json.loads(allot("explain", *options, "--observation", log, "--decision", "0", "--save", saved).stdout)
    assert json.loads(allot("explain", *options, "--observation", saved).stdout) == of_log


def test_shares_of_a_log_are_explained(program, allot, checkpoint, tmp_path):
    subprocess.run([program, "simulate", *WORLD, "--policy", "shared", "--log", tmp_path], capture_output=True, check=True)
    options = ["--checkpoint", checkpoint, "--observation", next(tmp_path.glob("*/*")), "--decision", "40"]
    shares = json.loads(allot("explain", *options, "--json").stdout)["logged_shares"]
    assert shares and all(0 < share["share"] <= 1 and share["configuration"] for share in shares)
    text = allot("explain", *options).stdout
    assert f"the log gave job {shares[0]['job']} {shares[0]['configuration']} for {100 * shares[0]['share']:.1f} %" in text


@pytest.mark.parametrize("options, code, words", [
    (["--job", "nobody"], 2, "no job 'nobody'"),
    (["--decision", "1000000"], 2, "--decision must be one of"),
    (["--episode", "3"], 2, "--episode must be one of 1"),
])
def test_explain_refuses_what_is_not_there(allot, checkpoint, log, options, code, words):
    assert words in allot("explain", "--checkpoint", checkpoint, "--observation", log, *options, exit=code).stderr


@pytest.mark.parametrize("change, words", [
    (lambda s: s["jobs"][0].pop("submit"), "submit"),
    (lambda s: s["jobs"][0].update(table=99), "'table' must be one of"),
    (lambda s: s["jobs"][0].update(requested=9999), "'requested' must be one of"),
    (lambda s: s.update(interval=0), "'interval' must be > 0, got 0"),
    (lambda s: s.update(snapshot=7), "'snapshot' must be 1, got 7"),
    (lambda s: s["jobs"][0].update(running=0, shares=[]), "what runs breaks a rule"),
])
def test_damaged_snapshot_names_file_and_rule(allot, checkpoint, log, tmp_path, change, words):
    saved = tmp_path / "moment.json"
    allot("explain", "--checkpoint", checkpoint, "--observation", log, "--save", saved)
    snapshot = read_json(saved)
    change(snapshot)
    saved.write_text(json.dumps(snapshot))
    stderr = allot("explain", "--checkpoint", checkpoint, "--observation", saved, exit=3).stderr
    assert "moment.json" in stderr and words in stderr


# ---- guarded ----


def test_guard_tells_why_it_fell_back(allot, tmp_path):
    policy = "guarded:policy=index/alpha=-1/beta=0/kappa=0,teacher=srtf,margin=0.2,min-jobs=20,check-interval=10"
    allot("simulate", *WORLD, "--policy", policy, "--out", tmp_path / "run")
    notes = read_json(tmp_path / "run" / "summary.json")["notes"]
    assert "more than 0.2 worse" in notes["fell back"]
    assert notes["invalid decisions"] == "0"


# ---- gate ----


def test_gate_accepts_and_rejects(allot, checkpoint, tmp_path):
    models = tmp_path / "models"
    options = ["--candidate", checkpoint, "--models", models, *WORLD, "--workloads", "3", "--json"]
    accepted = json.loads(allot("gate", *options, "--against", "fifo").stdout)
    assert accepted["accepted"] and accepted["best_heuristic"] == "fifo"
    assert (models / "accepted" / "model.safetensors").read_bytes() == (checkpoint / "model.safetensors").read_bytes()
    assert read_json(models / "accepted" / "gate.json")["accepted"] is True
    assert "is accepted" in (models / "accepted" / "gate.md").read_text()
    allot("simulate", *WORLD, "--policy", f"learned:checkpoint={models / 'accepted'}", "--json")

    # As good as itself is not better.
    rejected = json.loads(allot("gate", *options, "--against", "fifo", exit=4).stdout)
    assert not rejected["accepted"] and "does not beat the incumbent" in rejected["reason"]
    assert (models / "rejected" / "001" / "model.safetensors").exists()
    assert read_json(models / "rejected" / "001" / "gate.json")["accepted"] is False
    assert read_json(models / "accepted" / "gate.json")["accepted"] is True

    # Within a bar it is; the former holder of the place is kept.
    allot("gate", *options, "--against", "fifo", "--max-ratio", "1.01")
    assert (models / "former" / "001" / "gate.json").exists()


def test_gate_wants_two_workloads(allot, checkpoint, tmp_path):
    stderr = allot("gate", "--candidate", checkpoint, "--models", tmp_path, *WORLD, exit=2).stderr
    assert "at least 2 held-out workloads, got 1" in stderr


# ---- training from logs ----

TRAIN = ["--iterations", "4", "--batch", "4", "--method", "evolution:pairs=4", "--episode-span", "12h",
         "--validation-workloads", "2", "--validate-every", "1", "--quiet"]


@pytest.fixture
def fifo_log(allot, training, tmp_path):
    allot("simulate", "--cluster", "2x8", "--load", "1.0", "--span", "4d", "--policy", "fifo", "--log", tmp_path / "logs", "--quiet")
    return tmp_path / "logs" / "cluster" / "fifo-v0"


def test_policy_trained_from_anothers_log_is_no_worse_than_its_start(allot, fifo_log, tmp_path):
    out = tmp_path / "run"
    allot("train", "--from-log", fifo_log, *TRAIN, "--start", "index:alpha=-0.5,beta=1", "--out", out)
    curve = [row.split(",") for row in (out / "curve.csv").read_text().splitlines()]
    at = curve[0].index("validation_ratio")
    start, *later = [float(row[at]) for row in curve[1:]]
    assert min(later) <= start
    state = read_json(out / "best" / "state.json")["state"]
    assert state["best_validation"] == min(start, *later)
    assert sum(map(sum, state["run_times"])) > 0, "the length model has seen the log"


@pytest.mark.parametrize("rate, spoils", [("5", True), ("0.02", False)])
def test_training_says_where_the_best_is_and_warns_when_validation_rises(allot, training, tmp_path, rate, spoils):
    done = allot("train", "--cluster", "2x8", "--episode-span", "12h", "--training-loads", "0.9", "--iterations", "3", "--batch",
                 "2", "--method", f"evolution:pairs=2,learning-rate={rate},final-learning-rate={rate}", "--validation-workloads",
                 "2", "--validate-every", "1", "--start", "index:alpha=0.25,beta=0.3,kappa=0.3", "--out", "run")
    curve = [row.split(",") for row in (tmp_path / "run" / "curve.csv").read_text().splitlines()]
    at = curve[0].index("validation_ratio")
    ratios = [float(row[at]) for row in curve[1:]]
    best = ratios.index(min(ratios))
    assert f"(best {min(ratios):.3f}, {f'iteration {best}' if best else 'the start'}) after" in done.stdout
    assert ("best is the start" in done.stdout) == (best == 0)
    risen = any(ratio > 1.01 * min(ratios[:k]) for k, ratio in enumerate(ratios) if k > 0)
    assert ("warning: validation has risen to" in done.stderr) == risen
    if spoils:
        assert best == 0 and risen


def test_training_stops_when_nothing_better_comes(allot, training, tmp_path):
    options = ["train", "--cluster", "2x8", "--episode-span", "12h", "--training-loads", "0.9", "--iterations", "9", "--batch",
               "2", "--method", "evolution:pairs=2,learning-rate=5,final-learning-rate=5", "--validation-workloads", "2",
               "--validate-every", "1", "--start", "index:alpha=0.25,beta=0.3,kappa=0.3", "--out", "run", "--patience"]
    assert "stopped after 2 of 9 iterations: 2 validations in turn brought nothing better" in allot(*options, "2").stdout
    assert "stopped after 3 of 9 iterations" in allot(*options, "3", "--resume").stdout


def test_log_without_ends_is_refused(allot, fifo_log, tmp_path):
    with h5py.File(fifo_log / "data" / "main_data.hdf5", "r+") as file:
        file["episode_0/result/finish"][:] = float("inf")
    stderr = allot("train", "--from-log", fifo_log, *TRAIN, "--out", tmp_path / "run", exit=3).stderr
    assert "fifo-v0" in stderr and "result/finish" in stderr


# ---- one network for several worlds ----

IN_TWO_WORLDS = ["train", "--setting", "pollux:load=0.05,gavel:jobs=20,gpus=4", "--network", "offsets:hidden=4", "--iterations", "1",
                 "--batch", "2", "--validation-workloads", "2", "--validate-every", "1", "--quiet", "--method"]
MIXED = [*IN_TWO_WORLDS, "evolution:pairs=2,sigma=0.3,tensors=out.job|out.bias"]


@pytest.mark.parametrize("method", [MIXED[-1], "policy-gradient:rollouts=3,learning-rate=0.1"])
def test_one_network_is_trained_in_several_worlds_and_serves_each(allot, training, tmp_path, method):
    found = json.loads(allot(*IN_TWO_WORLDS, method, "--out", "run", "--json").stdout)
    assert len(found["best_by_setting"]) == 2
    state = read_json(tmp_path / "run" / "latest" / "state.json")
    assert set(state["shape"]["worlds"]) == {"gavel", "pollux"}
    curve = [row.split(",") for row in (tmp_path / "run" / "curve.csv").read_text().splitlines()]
    assert float(curve[1][curve[0].index("validation_ratio")]) == 1, "it begins as the tuned index of each world"
    for setting in ["pollux:load=0.05", "gavel:jobs=20,gpus=4"]:
        allot("evaluate", "--checkpoint", "run/latest", "--setting", setting, "--against", "index", "--quiet")
    allot("compare", "--setting", "pollux:load=0.05", "--policies", "learned:checkpoint=run/latest,index", "--quiet")


def test_what_was_added_to_the_index_is_explained(allot, training, tmp_path):
    allot(*IN_TWO_WORLDS, "policy-gradient:rollouts=3,learning-rate=0.5", "--out", "run")
    allot("simulate", "--setting", "pollux:load=0.05", "--policy", "index", "--log", "logs", "--quiet")
    log = next((tmp_path / "logs" / "cluster").iterdir())
    command = ["explain", "--checkpoint", "run/latest", "--observation", log, "--decision", "5", "--world", "pollux"]
    jobs = json.loads(allot(*command, "--json").stdout)["jobs"]
    assert jobs
    for job in jobs:
        for number in ("u", "beta", "kappa"):
            assert job[number] == pytest.approx(job["index"][number] + job["added"][number], abs=1e-5)
    assert any(job["added"]["u"] != 0 for job in jobs)
    assert len(jobs[0]["features"]) >= 34
    text = allot(*command).stdout
    assert "added to u" in text and "by the numbers of the index alone" in text
    assert "of the index u" in allot(*command, "--job", jobs[0]["job"]).stdout
    assert "only for gavel, pollux" in allot(*command[:-1], "sia", exit=2).stderr


def test_a_world_that_it_was_not_trained_in_is_named(allot, training, tmp_path):
    allot(*MIXED, "--out", "run")
    command = ["--setting", "sia:load=0.05", "--quiet"]
    stderr = allot("evaluate", "--checkpoint", "run/best", *command, exit=2).stderr
    assert "none for world 'sia', only for gavel, pollux" in stderr
    allot("compare", "--policies", "learned:index=index/joint=true,checkpoint=run/best", *command)


APART = {"a": "pollux:load=0.05", "b": "gavel:jobs=20,gpus=4"}


@pytest.mark.parametrize("tensors", ["own", "hidden.job|hidden.bias|out.job"])
def test_worlds_that_were_trained_apart_are_merged(allot, training, tmp_path, tensors):
    """Each decides as the run that it is of, also where that learned the shared weights."""
    for out, setting in APART.items():
        allot("train", "--setting", setting, *IN_TWO_WORLDS[3:], f"evolution:pairs=2,sigma=0.3,tensors={tensors}", "--out", out)
    allot("merge", "a/latest", "--world", "gavel=b/latest", "--out", "both")
    for out, setting in APART.items():
        run = [allot("evaluate", "--checkpoint", c, "--setting", setting, "--against", "index", "--json", "--quiet").stdout
               for c in [f"{out}/latest", "both"]]
        jcts = [[r["avg_jct_s"] for p in json.loads(text)["policies"] for r in p["runs"]] for text in run]
        assert jcts[0] == jcts[1], setting
    stderr = allot("merge", "a/latest", "--world", "sia=b/latest", "--out", "bad", exit=3).stderr
    assert "no world 'sia', only gavel" in stderr and not (tmp_path / "bad").exists()
    assert "WORLD=CHECKPOINT, got 'gavel'" in allot("merge", "a/latest", "--world", "gavel", "--out", "bad", exit=2).stderr


def test_settings_of_several_profiles_are_compared_apart(allot):
    stderr = allot("compare", "--setting", "pollux,gavel", "--policies", "index", exit=2).stderr
    assert "settings must be of one profile" in stderr


def test_an_exploration_that_does_not_suit_the_network_says_so(allot, training, tmp_path):
    train = ["train", "--setting", "pollux:load=0.05", "--network", "offsets", "--out", "run", "--method"]
    assert "exploration=fill draws the fill of networks 'index', this one is 'offsets'" in allot(
        *train, "policy-gradient:exploration=fill", exit=2).stderr
    assert "must be fill or values, got 'order'" in allot(*train, "policy-gradient:exploration=order", exit=2).stderr


def test_the_index_network_can_explore_by_values(allot, training, tmp_path):
    train = ["train", "--setting", "dl2:size=S", "--iterations", "1", "--batch", "1", "--validation-workloads", "1", "--quiet", "--json"]
    episodes = [json.loads(allot(*train, "--method", f"policy-gradient:rollouts=3,exploration={way}", "--out", way).stdout)
                for way in ("values", "fill")]
    assert [run["episodes"] for run in episodes] == [3, 3]
    values, fill = ((tmp_path / way / "latest" / "model.safetensors").read_bytes() for way in ("values", "fill"))
    assert values != fill


# ---- what stops a training ----


def test_spoiled_numbers_stop_the_training_with_the_last_good_checkpoint(allot, training, tmp_path):
    options = ["train", "--setting", "dl2:size=S", "--iterations", "3", "--batch", "1", "--validation-workloads", "1",
               "--method", "policy-gradient:rollouts=3,sample-share=1", "--quiet"]
    allot(*options, "--stop-after", "1", "--out", tmp_path / "good")
    spoiled = shutil.copytree(tmp_path / "good" / "latest", tmp_path / "spoiled")
    weights = bytearray((spoiled / "model.safetensors").read_bytes())
    start = 8 + struct.unpack("<Q", weights[:8])[0]
    begin, end = json.loads(weights[8:start])["hidden.job"]["data_offsets"]
    weights[start + begin : start + end] = struct.pack("<f", 3e38) * ((end - begin) // 4)
    (spoiled / "model.safetensors").write_bytes(weights)
    manifest = read_json(spoiled / "manifest.json")
    manifest["files"]["model.safetensors"]["checksum"] = fnv1a64(weights)
    (spoiled / "manifest.json").write_text(json.dumps(manifest))

    out = tmp_path / "run"
    stderr = allot(*options, "--start", spoiled, "--out", out, exit=1).stderr
    assert "training stopped in iteration 1" in stderr and "learning-rate" in stderr and str(out / "latest") in stderr
    assert (out / "latest" / "model.safetensors").read_bytes()[start:] == bytes(weights[start:])
    assert read_json(out / "latest" / "state.json")["state"]["iteration"] == 0
