"""Fixtures of the integration tests: the built program, run as a user would run it."""

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "live"))  # modules that some tests import
sys.path.append(str(ROOT / "tests" / "live" / "kubernetes"))

import allot_on_slurm  # noqa: E402  pylint: disable=wrong-import-position
from local import Live  # noqa: E402  pylint: disable=wrong-import-position

# The Python package as built: $ALLOT_PYTHON, else build/release/python. Tests begin with pytest.importorskip("allot").
PACKAGE = os.environ.get("ALLOT_PYTHON") or str(ROOT / "build" / "release" / "python")
sys.path.insert(0, PACKAGE)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [PACKAGE, os.environ.get("PYTHONPATH")]))


# Modules whose tests share a fixture that is expensive to make: pytest-xdist keeps them in one process.
TOGETHER = re.compile("slurm_.*|kubernetes_test|install_test|library_test|metrics_test|minari_test|python_data_test|"
                      "packages_test|python_trained_test|report_browser_test|score_test|submitters_test|sweep_test|whatif_test")
# Modules whose expensive fixture has parameters: tests of one parameter stay together.
TOGETHER_BY_PARAMETER = ("slurm_api_test",)


class Scheduler(LoadScopeScheduling):
    """Gives pytest -n N whole modules of TOGETHER, first those with most tests, then other tests one by one.

    Stands for --dist loadgroup, which forms no groups under pytest 9.2.
    """

    def _split_scope(self, nodeid):
        module, _, test = nodeid.partition("::")
        if Path(module).stem in TOGETHER_BY_PARAMETER:
            return module + test.partition("[")[2]
        return module if TOGETHER.fullmatch(Path(module).stem) else nodeid


def pytest_xdist_make_scheduler(config, log):
    return Scheduler(config, log)


@pytest.fixture(scope="session")
def root():
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """made_once(name, make) is a folder that make(folder) has filled in one of the processes of pytest-xdist."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent

    def get(name, make):
        folder = base / f"once-{name}"
        with (base / f"once-{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                part = base / f"once-{name}.part"
                part.mkdir()
                make(part)
                part.rename(folder)
        return folder

    return get


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


@pytest.fixture
def live(program, tmp_path, request):
    """`allot serve` with local processes, not started. With a parameter: seconds after which a silent worker is ended."""
    counter = program.parent / "examples" / "elastic_counter"
    if not os.access(counter, os.X_OK):
        pytest.skip(f"not built: {counter}")
    one = Live(program, counter, tmp_path, **({"worker_timeout": request.param} if hasattr(request, "param") else {}))
    yield one
    one.end()


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
