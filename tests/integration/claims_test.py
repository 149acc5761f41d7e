"""What the learned policies are claimed to be, trained and tested anew: minutes of training and simulation.

./dev test runs one family of claims about a network that is trained anew and one about a released policy; ./dev ci
(ALLOT_CLAIMS=all) runs all families of --quick.
"""

import json
import os
import re
import subprocess

import pytest

SHORT = ["dl2", "universal-gavel"]
LONG = ["philly-E-K", "universal-pollux", "universal-sia"]


@pytest.fixture(scope="module", params=SHORT + LONG)
def claims(request, program, training, tmp_path_factory):
    """claims.json of `allot reproduce claims --quick` for one family, and the command's exit code."""
    if request.param in LONG and os.environ.get("ALLOT_CLAIMS") != "all":
        pytest.skip("long: ALLOT_CLAIMS=all runs it")
    out = tmp_path_factory.mktemp("claims")
    command = [program, "--quiet", "reproduce", "claims", "--quick", "--only", request.param, "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
    assert (out / "claims.json").exists(), done.stdout + done.stderr
    return json.loads((out / "claims.json").read_text()), done.returncode


def test_every_family_of_claims_is_here(allot, training):
    stderr = allot("reproduce", "claims", "--quick", "--only", "none", "--out", "out", exit=2).stderr
    families = re.search(r"names none of the families (.*)", stderr)[1]
    assert sorted(families.split(", ")) == sorted(SHORT + LONG)


def test_the_claims_hold(claims):
    findings, _ = claims
    missed = {(f["setting"], f["opponent"], f["measure"]): f["ratio"] for f in findings["findings"] if not f["holds"]}
    assert findings["findings"] and not missed
    assert findings["accepted"].get("dl2") in (None, 1), "the trained network counts, not the index where training began"


def test_the_exit_code_says_whether_all_hold(claims):
    findings, code = claims
    assert code == (4 if findings["missed"] else 0)
