"""Which modules with libslurm the program loads: no other one than that which was installed with it."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

NO_CONF = "a slurm.conf must exist, got none at /etc/slurm/slurm.conf"

pytestmark = pytest.mark.skipif(os.path.exists("/etc/slurm/slurm.conf"), reason="this machine is of a cluster")


@pytest.fixture
def installed(program, tmp_path):
    """installed/bin/allot and its module; the path of the module."""
    return install(program, tmp_path)


def install(program, tmp_path):
    found = sorted(program.parent.glob("liballot_slurm-*.so"))
    if not found:
        pytest.skip("built without libslurm")
    folder = tmp_path / "installed" / "bin"
    folder.mkdir(parents=True, mode=0o755)
    shutil.copy(program, folder / "allot")
    shutil.copy(found[0], folder)
    (folder / found[0].name).chmod(0o755)
    return folder / found[0].name


def refusal(module, api="libslurm", user=None, state=None, more=(), **environment):
    """Why the program beside the module serves no cluster; Slurm's programs know their version and nothing else."""
    programs = module.parents[1] / "programs"
    programs.mkdir(exist_ok=True)
    release = module.name.removeprefix("liballot_slurm-").removesuffix(".so")
    for name in ("squeue", "sinfo", "scontrol", "sbatch", "scancel"):
        (programs / name).write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec echo slurm {release}.1\necho no cluster here >&2\nexit 1\n')
        (programs / name).chmod(0o755)
    unset = {name: value for name, value in os.environ.items() if name != "SLURM_CONF"}
    done = subprocess.run([module.parent / "allot", "serve", "--runtime", f"slurm:api={api},programs={programs}",
                           "--state", state or module.parent / "state", *more],
                          env={**unset, **environment}, capture_output=True, text=True, timeout=120, user=user)
    assert done.returncode == 1, done.stderr
    return done.stderr


def test_the_one_beside_the_program_is_loaded(installed):
    assert NO_CONF in refusal(installed)


def test_none_is_looked_for_above_the_program(installed):
    installed.rename(installed.parent.parent / installed.name)
    assert "no module liballot_slurm-RELEASE.so is installed" in refusal(installed)


@pytest.mark.parametrize("part", ["module", "folder"])
def test_none_that_others_can_write_is_loaded(installed, part):
    path = installed if part == "module" else installed.parent
    path.chmod(0o777)
    said = refusal(installed)
    assert f"{path} must be of root or of user {os.getuid()} and writable by nobody else" in said and "mode 777" in said


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, for a file of another user")
def test_none_of_another_user_is_loaded(installed):
    os.chown(installed, 65534, 65534)
    assert "it is of user 65534" in refusal(installed)


@pytest.fixture
def open_folder():
    """Of a path that every user may enter, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to be another user")
def test_a_service_user_without_a_module_does_not_start(program, open_folder):
    """Nothing that it submits for others would begin. Root may, and a dry run only looks."""
    module = install(program, open_folder)
    module.unlink()
    state = open_folder / "state"
    state.mkdir()
    os.chown(state, 65534, 65534)
    said = refusal(module, api="auto", user=65534, state=state)
    for part in ("no module liballot_slurm-RELEASE.so is installed", "only root may submit for others, this is user 65534",
                 "api=commands where all jobs are this user's"):
        assert part in said, said
    for user, folder, more in ((65534, state, ("--dry-run",)), (0, open_folder / "state-of-root", ())):
        assert "no cluster here (through commands: " in refusal(module, api="auto", user=user, state=folder, more=more)


@pytest.mark.skipif(os.getuid() != 0, reason="others than root need a module")
def test_without_a_slurm_conf_the_programs_of_slurm_are_asked(installed):
    """They may know another place for it than libslurm's module does."""
    said = refusal(installed, api="auto")
    assert "no cluster here (through commands: " in said and NO_CONF in said, said


def test_a_slurm_conf_that_is_named_must_be_there(installed):
    assert "there is none at /none/slurm.conf" in refusal(installed, api="auto", SLURM_CONF="/none/slurm.conf")
