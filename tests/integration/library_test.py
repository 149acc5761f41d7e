"""allot as a library: the example in this build, and a project of its own on an installed allot."""

import subprocess

import pytest

# What may differ between two runs of one comparison: the time that decisions took.
FIGURES = 6


def rows_of(table, policies):
    """Policy -> its first figures in the printed table."""
    rows = {}
    for line in table.splitlines():
        words = line.lstrip("> ").split()  # ">" marks the reference
        if words and words[0] in policies and words[0] not in rows:
            rows[words[0]] = words[1:FIGURES]
    return rows


def test_the_example_compares_as_the_command_does(program, allot):
    example = program.parent / "examples" / "compare_policies"
    done = subprocess.run([example], capture_output=True, text=True, check=True, timeout=600)
    policies = ["fifo", "srtf", "optimus"]
    said = allot("compare", "-c", "4x8", "--load", "1.0", "--span", "1d", "--workloads", "3", "-p", ",".join(policies),
                 "--quiet").stdout
    assert set(rows_of(done.stdout, policies)) == set(policies)
    assert rows_of(done.stdout, policies) == rows_of(said, policies)


@pytest.fixture(scope="module")
def installed(program, cache, tmp_path_factory):
    """A folder that this build was installed into. Read-only."""
    del cache  # where there is none, nothing is installed
    build = program.parent
    if not (build / "liballot.a").exists():
        pytest.skip("liballot.a is not built (ninja allot_archive)")
    prefix = tmp_path_factory.mktemp("installed")
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, capture_output=True, text=True)
    return prefix


def test_the_installed_program_runs(installed):
    done = subprocess.run([installed / "bin" / "allot", "list", "policies"], capture_output=True, text=True, check=True)
    assert "\n  fifo " in done.stdout


def test_headers_are_installed_where_they_are_included_from(installed):
    headers = installed / "include" / "allot"
    for header in ("core/error.h", "sched/policy.h", "stages/staged_policy.h", "experiment/world.h", "envs/env.h"):
        assert (headers / header).is_file()
    assert not (headers / "cli").exists()


# Takes longer than 10 s: a project is compiled and linked.
def test_a_project_of_its_own_finds_allot(root, installed, tmp_path):
    build = tmp_path / "build"
    for command in (["cmake", "-S", root / "examples" / "find_package", "-B", build, f"-DCMAKE_PREFIX_PATH={installed}",
                     "-DCMAKE_BUILD_TYPE=Release", "-G", "Ninja"],
                    ["cmake", "--build", build]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([build / "own_policy"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    rows = rows_of(done.stdout, ["mine", "fifo", "srtf"])
    assert set(rows) == {"mine", "fifo", "srtf"}  # of registered files none was dropped
