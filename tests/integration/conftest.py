"""Fixtures of the integration tests: the built program, run as a user would run it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "live"))  # modules that some tests import
sys.path.append(str(ROOT / "tests" / "live" / "kubernetes"))

import allot_on_slurm  # noqa: E402  pylint: disable=wrong-import-position

# The Python package as built: $ALLOT_PYTHON, else build/release/python. Tests begin with pytest.importorskip("allot").
PACKAGE = os.environ.get("ALLOT_PYTHON") or str(ROOT / "build" / "release" / "python")
sys.path.insert(0, PACKAGE)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [PACKAGE, os.environ.get("PYTHONPATH")]))


def pytest_collection_modifyitems(items):
    """With pytest -n N --dist loadgroup, tests of a module that share a fixture, such as a cluster, run in one process."""
    for item in items:
        for *_, fixture in item._fixtureinfo.name2fixturedefs.values():
            in_module = fixture.baseid.endswith(".py")
            if fixture.scope in ("class", "module") or (fixture.scope == "session" and in_module):
                item.add_marker(pytest.mark.xdist_group(item.path.stem))
                break


@pytest.fixture(scope="session")
def root():
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def program():
    """Path of the built program: $ALLOT_PROGRAM (set by ./dev test), else build/release/allot."""
    named = os.environ.get("ALLOT_PROGRAM")
    path = Path(named or ROOT / "build" / "release" / "allot")
    if not os.access(path, os.X_OK):
        if named:
            pytest.fail(f"ALLOT_PROGRAM is not a program: {path}")
        pytest.skip(f"not built: {path} (run ./dev build)")
    return path


@pytest.fixture(scope="session")
def cache(program):
    """CMakeCache.txt of the build that is installed: {"ALLOT_WITH_TORCH:BOOL": "ON"}."""
    path = program.parent / "CMakeCache.txt"
    if not path.exists():
        pytest.skip(f"no build folder around {program}")
    lines = path.read_text().splitlines()
    values = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith(("#", "//")))
    if values.get("ALLOT_INSTALL:BOOL") == "OFF" or values.get("ALLOT_SANITIZE:STRING"):
        pytest.skip("this build is not to be installed")
    return values


@pytest.fixture(scope="module")
def cluster(program):
    """A throw-away Slurm with nodes of one type; tests of other clusters have a fixture of their own."""
    if allot_on_slurm.why_not(program):
        pytest.skip(allot_on_slurm.why_not(program))
    with allot_on_slurm.slurm.throw_away(nodes=allot_on_slurm.ONE_TYPE) as one:
        yield one


@pytest.fixture
def daemon(program, cluster, tmp_path):
    """`allot serve` on it, not started."""
    one = allot_on_slurm.Serve(program, cluster, tmp_path)
    yield one
    one.kill()
    cluster.clear()


@pytest.fixture(scope="session")
def training(program):
    """Skips where this build does not train (ALLOT_WITH_TORCH=OFF)."""
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    if "\n  train " not in done.stdout:
        pytest.skip("built without training")


@pytest.fixture
def allot(program, tmp_path):
    """allot("list", "--json", exit=0) runs the program in a folder of its own and checks its exit code.

    Returns subprocess.CompletedProcess with text output.
    """

    def run(*arguments, exit=0, timeout=600, **options):
        done = subprocess.run(
            [program, *map(str, arguments)],
            cwd=tmp_path, capture_output=True, text=True, timeout=timeout, **options,
        )
        command = " ".join(["allot", *map(str, arguments)])
        assert done.returncode == exit, (
            f"{command}: exit code {done.returncode}, expected {exit}\n{done.stdout}{done.stderr}"
        )
        return done

    return run
