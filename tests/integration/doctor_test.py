"""allot doctor on real folders and daemons: what is wrong is named, and what to do."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from local import ENDLESS
from waiting import wait_until


@pytest.fixture
def doctor(program):
    """{check: (health, seen, advice)} of a folder; fails where the exit status does not fit."""
    def run(state, *more, user=None):
        done = subprocess.run([program, "doctor", "--json", "--state", state, *more], capture_output=True, text=True, check=False,
                              timeout=120, user=user)
        found = json.loads(done.stdout)
        wrong = sum(check["health"] == "wrong" for check in found["checks"])
        assert wrong == found["wrong"] and done.returncode == (4 if wrong else 0), done.stdout + done.stderr
        return {check["check"]: (check["health"], check["seen"], check["advice"]) for check in found["checks"]}
    return run


@pytest.fixture
def folder(tmp_path):
    """Of a daemon that is gone, with nothing wrong but that."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "journal.jsonl").write_text("")
    return state


def test_a_daemon_that_works_is_fine(live, doctor, allot):
    live.submit("a", steps=ENDLESS)
    live.serve()
    live.training("a")
    found = doctor(live.state)
    assert {check: health for check, (health, *_) in found.items() if health != "fine"}.items() <= {"clock": "warn", "state.space": "warn"}.items()
    assert f"held by process {live.daemon.pid}" in found["state.lock"][1]
    assert "policy drf" in found["daemon.answer"][1]
    said = allot("doctor", "--state", live.state).stdout
    assert said.startswith(f"state {live.state}, runtime local:") and ", 0 wrong\n" in said


def test_a_daemon_that_is_paused_and_then_dies(live, doctor):
    live.serve()
    live.say("pause")
    wait_until(lambda: live.status()["paused"], "the status to say so")
    found = doctor(live.state)
    assert found["daemon.pause"][0] == "warn" and found["daemon.pause"][2] == "allot resume"
    live.daemon.kill()
    live.daemon.wait()
    found = doctor(live.state)
    assert found["state.lock"][:2] == ("wrong", "no daemon serves this folder")
    assert found["daemon.answer"][:2] == ("skip", "not checked: see state.lock")


def wrong_and_skipped(found):
    return ([check for check, (health, *_) in found.items() if health == "wrong"],
            {check: seen for check, (health, seen, _) in found.items() if health == "skip"})


def test_before_the_first_start_one_cause_is_told_once(doctor, tmp_path, allot):
    found = doctor(tmp_path / "none")
    health, seen, advice = found["state.folder"]
    assert health == "wrong" and "No such file" in seen and "--state" in advice
    because = "not checked: see state.folder"
    assert wrong_and_skipped(found) == (["state.folder"], dict.fromkeys(
        ["state.space", "state.journal", "state.lock", "daemon.answer", "clock.journal"], because))
    assert ", 1 wrong, 5 not checked\n" in allot("doctor", "--state", tmp_path / "none", exit=4).stdout


def test_a_folder_that_no_daemon_has_served(doctor, folder):
    (folder / "journal.jsonl").unlink()
    wrong, skipped = wrong_and_skipped(doctor(folder))
    assert wrong == ["state.lock"] and set(skipped) == {"state.journal", "daemon.answer", "clock.journal"}


def test_a_journal_that_was_lost(doctor, folder):
    (folder / "journal.jsonl").unlink()
    (folder / "lock").touch()
    health, seen, _ = doctor(folder)["state.journal"]
    assert health == "warn" and "of an earlier daemon is missing" in seen


def test_a_folder_that_others_can_read(doctor, folder):
    assert doctor(folder)["state.folder"][0] == "fine"
    folder.chmod(0o755)
    health, seen, advice = doctor(folder)["state.folder"]
    assert health == "wrong" and "mode 755" in seen and advice == f"chmod 700 {folder}"


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, for a second user")
def test_a_folder_of_another_user(doctor):
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        state = Path(name) / "state"
        state.mkdir(mode=0o700)
        try:
            found = doctor(state, user=65534)
        except PermissionError:
            pytest.skip("other users cannot enter the program's folder")
        health, seen, advice = found["state.folder"]
    assert health == "wrong" and "belongs to root" in seen and "that user" in advice
    assert wrong_and_skipped(found)[0] == ["state.folder"]


def test_a_damaged_journal(doctor, folder):
    (folder / "journal.jsonl").write_text('{"at":0,"what":"serve","origin":0,"runtime":"local"}\nnot a record\n')
    health, seen, advice = doctor(folder)["state.journal"]
    assert health == "wrong" and "line 2" in seen and advice.startswith("allot journal repair")


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user")
def test_a_journal_is_repaired_by_its_user_alone(folder, allot):
    journal = folder / "journal.jsonl"
    journal.write_text("not a record\n")
    os.chown(journal, 65534, 65534)
    done = allot("journal", "repair", "--state", folder, exit=2)
    assert "must repair" in done.stderr and "belongs to user 65534, got user 0" in done.stderr
    assert journal.read_text() == "not a record\n" and journal.stat().st_uid == 65534


def test_a_cluster_that_nobody_names(doctor, folder):
    assert doctor(folder)["runtime"][0] == "warn"


def test_a_slurm_that_is_not_there(doctor, folder, allot, monkeypatch):
    if "slurm" not in allot("list", "runtimes").stdout:
        pytest.skip("built without Slurm")
    monkeypatch.setenv("SLURM_CONF", str(folder / "none.conf"))
    health, seen, _ = doctor(folder, "--runtime", "slurm")["slurm.controller"]
    assert health == "wrong" and "none.conf" in seen


def test_a_kubernetes_that_is_not_there(doctor, folder, allot):
    if "kubernetes" not in allot("list", "runtimes").stdout:
        pytest.skip("built without Kubernetes")
    health, seen, _ = doctor(folder, "--runtime", f"kubernetes:kubeconfig={folder / 'none'}")["kubernetes.server"]
    assert health == "wrong" and "none" in seen


def test_a_mistyped_cluster_is_an_error(allot, folder):
    assert "slurm" in allot("doctor", "--state", folder, "--runtime", "slrum", exit=2).stderr
