"""./dev says what is wrong before it starts anything, and counts results honestly."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def copy_dev(folder):
    """./dev and what it reads, elsewhere."""
    shutil.copy(ROOT / "dev", folder)
    shutil.copytree(ROOT / "tools", folder / "tools")
    (folder / "cmake").mkdir()
    shutil.copy(ROOT / "cmake" / "apt-packages.txt", folder / "cmake")


def dev(*arguments):
    return subprocess.run([ROOT / "dev", *arguments], capture_output=True, text=True, timeout=600)


def test_help_names_every_command():
    done = dev("help")
    assert done.returncode == 0
    scripts = [script.stem for script in (ROOT / "tools").glob("*.sh") if os.access(script, os.X_OK) and "_" not in script.stem]
    assert {"ci", "lint", "sanitize", "wheel"} <= set(scripts)
    for command in ("demo", "test", "build", "docs", "bench", "clean", *scripts):
        assert f"\n  {command} " in done.stdout


@pytest.mark.parametrize("arguments", [["fly"], ["test", "fast"], ["build", "--fast"]])
def test_unknown_words_are_usage_errors(arguments):
    done = dev(*arguments)
    assert done.returncode == 2
    assert arguments[-1] in done.stderr


def test_long_subjects_of_commits_are_named(tmp_path):
    def git(*arguments):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    copy_dev(tmp_path)
    git("init")
    for length in (10, 72, 73):
        git("commit", "--allow-empty", "-m", "x" * length)
    check = [tmp_path / "dev", "subjects"]
    assert subprocess.run([*check, "HEAD"], capture_output=True).returncode == 0
    done = subprocess.run([*check, "HEAD~2"], capture_output=True, text=True)
    assert done.returncode == 1 and "at most 72" in done.stderr
    assert done.stderr.count("x" * 72) == 1, "only the subject of 73 letters is too long"


@pytest.fixture
def bare_machine():
    """A folder that any user may read, with dev, its list, and a dpkg-query that knows no package."""
    folder = Path(tempfile.mkdtemp(prefix="allot_dev_"))
    folder.chmod(0o755)
    copy_dev(folder)
    query = folder / "bin" / "dpkg-query"
    query.parent.mkdir()
    query.write_text("#!/bin/sh\nexit 1\n")
    query.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_missing_packages_without_root_are_named(bare_machine):
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(
        [bare_machine / "dev", "demo"], capture_output=True, text=True, timeout=600,
        stdin=subprocess.DEVNULL, env={"PATH": f"{bare_machine}/bin:/usr/bin:/bin", "CI": "true"}, **nobody,
    )
    if "installing" in done.stdout:
        pytest.skip("this user may use sudo without a password")
    assert done.returncode == 2, done.stderr
    assert "libtorch-dev" in done.stderr and "libopenblas0-pthread" in done.stderr
    assert "apt-get install --no-install-recommends" in done.stderr
    assert "clang-tidy" not in done.stderr, "the demo needs no linter"


def with_stub_cmake(folder, **environment):
    """./dev demo where cmake only says what it was asked; there is no dpkg-query on PATH."""
    for tool in ("bash", "dirname", "awk", "grep", "sed", "mkdir", "cat", "nproc", "printf"):
        link = folder / "bin" / tool
        link.symlink_to(shutil.which(tool))
    (folder / "bin" / "dpkg-query").unlink()
    cmake = folder / "bin" / "cmake"
    cmake.write_text("#!/bin/sh\necho cmake \"$@\"\nexit 1\n")
    cmake.chmod(0o755)
    return subprocess.run([folder / "bin" / "bash", folder / "dev", "demo"], capture_output=True, text=True, timeout=600,
                          env={"PATH": str(folder / "bin"), **environment})


def test_elsewhere_than_debian_the_packages_are_named(bare_machine):
    done = with_stub_cmake(bare_machine)
    assert "not a Debian system" in done.stdout and " libtorch-dev " in done.stdout
    assert "clang-tidy" not in done.stdout, "the demo needs no linter"


def test_warnings_end_a_build_in_ci_only(bare_machine):
    done = with_stub_cmake(bare_machine)
    assert "cmake --preset release\n" in done.stderr


def test_warnings_end_a_build_in_ci(bare_machine):
    done = with_stub_cmake(bare_machine, CI="true")
    assert "cmake --preset release -DALLOT_WARNINGS_ARE_ERRORS=ON\n" in done.stderr


def test_presets_that_people_build_take_warnings():
    presets = {preset["name"]: preset for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}

    def strict(name):
        values = presets[name].get("cacheVariables", {})
        if "ALLOT_WARNINGS_ARE_ERRORS" in values:
            return values["ALLOT_WARNINGS_ARE_ERRORS"]
        return strict(presets[name]["inherits"])

    assert {name: strict(name) for name in ("release", "debug", "no-torch", "asan-ubsan", "tsan")} == {
        "release": "OFF", "debug": "OFF", "no-torch": "OFF", "asan-ubsan": "ON", "tsan": "ON"}


@pytest.mark.parametrize("arguments", [[], ["Trixie"], ["../trixie"]])
def test_roots_are_named_by_their_release(arguments):
    done = subprocess.run([ROOT / "tools" / "debian_root.sh", *arguments], capture_output=True, text=True)
    assert done.returncode == 2 and "RELEASE" in done.stderr


def test_a_root_that_is_not_there_is_not_made_by_asking(tmp_path):
    asked = [ROOT / "tools" / "debian_root.sh", "--has", "trixie"]
    environment = {**os.environ, "ALLOT_DEBIAN_ROOTS": str(tmp_path)}
    assert subprocess.run(asked, env=environment).returncode == 1
    (tmp_path / "trixie").mkdir()
    assert subprocess.run(asked, env=environment).returncode == 0


PASSING = '<testcase name="a" status="run"/>'
FAILING = '<testcase name="b"><failure/></testcase>'
CASES = {  # what a program wrote, its exit status; the line and the exit status of the totals
    "all passed": (PASSING * 2, 0, "2 passed, 0 failed", 0),
    "a failure": (PASSING + FAILING, 8, "1 passed, 1 failed", 1),
    "an error": (PASSING + '<testcase name="b"><error/></testcase>', 1, "1 passed, 1 failed", 1),
    "a skip": (PASSING + '<testcase name="b"><skipped message="no torch"/></testcase>', 0,
               "1 passed, 0 failed, 1 skipped", 0),
    "a disabled test": (PASSING + '<testcase name="b" status="notrun"/>', 0, "1 passed, 0 failed, 1 skipped", 0),
    "crash outside tests": (PASSING, 3, "1 passed, 1 failed", 1),
    "nothing ran": ("", 0, "0 passed, 0 failed", 1),
    "nothing written": (None, 0, "0 passed, 1 failed", 1),
}


def totals(*arguments):
    done = subprocess.run([sys.executable, ROOT / "tests" / "junit_totals.py", *arguments], capture_output=True, text=True)
    return done.stdout, done.returncode


def write_results(folder, name, cases, exit_status):
    (folder / f"{name}.status").write_text(f"{exit_status}\n")
    if cases is not None:
        (folder / f"{name}.xml").write_text(f"<testsuite>{cases}</testsuite>")


@pytest.mark.parametrize("name", CASES)
def test_totals(name, tmp_path):
    cases, exit_status, line, expected = CASES[name]
    write_results(tmp_path, "core_test-1", cases, exit_status)
    assert totals(tmp_path) == (line + "\n", expected)


def test_totals_are_of_all_results_or_of_those_that_are_named(tmp_path):
    write_results(tmp_path, "release-core_test-1", PASSING, 0)
    write_results(tmp_path, "pytest", PASSING * 3, 0)
    write_results(tmp_path, "check-lint", None, 1)
    assert totals(tmp_path) == ("4 passed, 1 failed\n", 1)
    assert totals(tmp_path, "release-", "pytest") == ("4 passed, 0 failed\n", 0)
    assert totals(tmp_path, "release-") == ("1 passed, 0 failed\n", 0)


def test_halves_of_test_programs_are_run_and_counted(tmp_path):
    """run_halves.sh on programs of /bin/sh: one passes, one crashes in its second half, one is killed."""
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "run_halves.sh", tmp_path / "tests")
    programs = tmp_path / "build" / "release" / "tests"
    programs.mkdir(parents=True)
    passes = f"""echo '<testsuite>{PASSING}</testsuite>' >"${{GTEST_OUTPUT#xml:}}"; echo "$GTEST_SHARD_INDEX of $GTEST_TOTAL_SHARDS";"""
    for name, text in (("good", passes), ("bad", passes + '[ "$GTEST_SHARD_INDEX" = 0 ] || { echo "what went wrong"; exit 7; }'),
                       ("dead", "kill -KILL $$")):
        (programs / f"{name}_test").write_text(f"#!/bin/sh\n{text}\n")
        (programs / f"{name}_test").chmod(0o755)
    run = [tmp_path / "tests" / "run_halves.sh", "release", "results", "2"]
    done = subprocess.run([*run, "good_test"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and totals(tmp_path / "results") == ("2 passed, 0 failed\n", 0)
    assert (tmp_path / "results" / "release-good_test-2.log").read_text() == "1 of 2\n"
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "bad_test 2/2: exit status 7\n1 of 2\nwhat went wrong\n" in done.stdout
    assert totals(tmp_path / "results") == ("4 passed, 3 failed\n", 1)


@pytest.fixture
def stub_ci(tmp_path):
    """run(test=..., lint=..., CI_MINUTES=...): tools/ci.sh, where ./dev COMMAND only runs the shell text that is given for it."""
    copy_dev(tmp_path)
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "linted").write_text("0" * 40)
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "junit_totals.py", tmp_path / "tests")
    for name, text in (("dev", 'eval "${!1:-}"'), ("tools/sanitize.sh", "sleep 0.1"), ("tools/debian_root.sh", "exit 1"),
                       ("bin/dpkg-query", 'printf "installed %s\\n" "${@:3}"')):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / name).chmod(0o755)

    def run(**commands):
        environment = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", **commands}
        done = subprocess.run([tmp_path / "tools" / "ci.sh"], env=environment, capture_output=True, text=True, timeout=600)
        lines = done.stdout.splitlines()
        return lines[-1], done.returncode, lines[-2]
    return run


TESTED = f"mkdir -p build/results; echo 0 >build/results/pytest.status; echo '<testsuite>{PASSING}</testsuite>' >build/results/pytest.xml"


def test_ci_counts_what_its_checks_find(stub_ci):
    line, code, summary = stub_ci(test=TESTED)
    assert (line, code) == ("1 passed, 0 failed", 0) and summary.endswith(" all of CI")
    sanitized = "echo 7 >build/results/asan-ubsan-core_test-1.status; exit 1"
    line, code, summary = stub_ci(test=TESTED, lint="exit 1", docs="exit 2", sanitize=sanitized)
    assert (line, code) == ("1 passed, 3 failed", 1) and summary.endswith(" faults of: lint docs")


def test_ci_counts_a_build_that_failed(stub_ci):
    assert stub_ci(test="exit 1")[:2] == ("0 passed, 1 failed", 1)


def test_ci_names_what_found_no_time(stub_ci):
    line, code, summary = stub_ci(test=TESTED, lint="exit 1", CI_MINUTES="0")
    assert (line, code) == ("1 passed, 0 failed", 0)
    assert summary.endswith("; no time for: lint wheel docs tests under sanitizers that had not yet run pages")


def test_programs_under_tsan_are_test_programs():
    script = (ROOT / "tools/sanitize.sh").read_text()
    folders = re.search(r"THREADED_FOLDERS=\((.*)\)", script)[1].split()
    tests = ROOT / "tests/unit"
    known = {str(test.parent.relative_to(tests)).replace("/", "_") for test in tests.rglob("*_test.cc")}
    assert set(folders) <= known, set(folders) - known


def test_devcontainer_installs_what_the_build_needs():
    """The image takes its packages from the one list, and ends with a build."""
    folder = ROOT / ".devcontainer"
    settings = json.loads((folder / "devcontainer.json").read_text())
    assert settings["postCreateCommand"] == "./dev build"
    dockerfile = (folder / settings["build"]["dockerfile"]).read_text()
    assert dockerfile.splitlines()[1] == "FROM debian:12"
    program = re.search(r"awk '(.*?)'", dockerfile, re.DOTALL)[1].replace("\\\n", "\n")
    listed = subprocess.run(["awk", program, ROOT / "cmake" / "apt-packages.txt"], capture_output=True, text=True, check=True)
    assert {"cmake", "g++", "libtorch-dev", "python3-venv", "clang-tidy"} <= set(listed.stdout.split())
    assert "slurmd" not in listed.stdout.split()  # only the tests on live clusters need it
