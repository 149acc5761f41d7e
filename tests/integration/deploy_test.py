"""The files of deploy/: what a service manager makes of them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SERVICE = Path(__file__).resolve().parents[2] / "deploy" / "systemd" / "allot.service"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_the_service_has_the_least_rights():
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", SERVICE], capture_output=True, text=True)
    exposure = re.search(r"exposure level for allot.service: ([0-9.]+)", done.stdout)
    assert exposure, done.stdout + done.stderr
    assert float(exposure[1]) <= 2.5, done.stdout
