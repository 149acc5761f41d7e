"""The files of deploy/: what a service manager makes of them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SYSTEMD = Path(__file__).resolve().parents[2] / "deploy" / "systemd"

pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


def security(service):
    """What systemd says of its rights."""
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", service], capture_output=True, text=True)
    exposure = re.search(r"exposure level for allot.service: ([0-9.]+)", done.stdout)
    assert exposure, done.stdout + done.stderr
    assert float(exposure[1]) <= 2.5, done.stdout
    return done.stdout


def test_the_service_has_the_least_rights():
    security(SYSTEMD / "allot.service")


def test_as_root_it_has_one_right_more(tmp_path):
    """Which is enough: test_root_with_the_rights_of_the_service_serves_by_commands."""
    shutil.copy(SYSTEMD / "allot.service", tmp_path)
    (tmp_path / "allot.service.d").mkdir()
    shutil.copy(SYSTEMD / "commands.conf", tmp_path / "allot.service.d")
    said = security(tmp_path / "allot.service")
    assert re.search(r"✗ .*Service runs as root user", said), "the drop-in was read"
    assert re.findall(r"✗ CapabilityBoundingSet=~(\S+)", said) == ["CAP_(DAC_*|FOWNER|IPC_OWNER)"]
