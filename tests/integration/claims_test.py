"""What the learned policies are claimed to be, trained and tested anew: the slowest test there is, some minutes."""

import json
import subprocess

import pytest

@pytest.fixture(scope="module")
def claims(program, training, tmp_path_factory):
    """claims.json of `allot reproduce claims --quick`, and the command's exit code."""
    out = tmp_path_factory.mktemp("claims")
    command = [program, "--quiet", "reproduce", "claims", "--quick", "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
    assert (out / "claims.json").exists(), done.stdout + done.stderr
    return json.loads((out / "claims.json").read_text()), done.returncode


def test_the_claims_hold(claims):
    findings, _ = claims
    missed = {(f["setting"], f["opponent"], f["measure"]): f["ratio"] for f in findings["findings"] if not f["holds"]}
    assert not missed


def test_the_network_of_dl2s_world_counts(claims):
    assert claims[0]["accepted"]["dl2"] == 1


def test_the_exit_code_says_whether_all_hold(claims):
    findings, code = claims
    assert code == (4 if findings["missed"] else 0)
