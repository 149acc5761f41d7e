"""liballot_plugin.so as other cluster managers load it: from C, from Python, and from allot serve."""

import json
import re
import shutil
import subprocess
import sys

import pytest

SNAPSHOT = "docs/formats/snapshot.md"


@pytest.fixture(scope="session")
def library(program):
    path = program.parent / "liballot_plugin.so"
    if not path.exists():
        pytest.skip(f"not built: {path}")
    return path


@pytest.fixture(scope="session")
def plugin(root):
    sys.path.insert(0, str(root / "examples"))
    import plugin  # noqa: PLC0415
    return plugin


@pytest.fixture(scope="session")
def snapshot(root):
    """The example of its page."""
    return json.loads(re.search(r"```json\n(.*?)```", (root / SNAPSHOT).read_text(), re.DOTALL)[1])


@pytest.fixture
def moment(snapshot, tmp_path):
    path = tmp_path / "moment.json"
    path.write_text(json.dumps(snapshot))
    return path


def declared(root):
    header = (root / "src" / "plugin" / "allot_plugin.h").read_text()
    return set(re.findall(r"ALLOT_PLUGIN_API [^;]*?\b(allot_\w+)\(", header))


def test_the_library_shows_the_interface_and_nothing_else(root, library):
    if not shutil.which("nm"):
        pytest.skip("no nm (binutils)")
    shown = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    functions = {line.split()[2].split("@")[0] for line in shown.splitlines() if line.split()[1] == "T"}
    others = [line for line in shown.splitlines() if line.split()[1] not in "TA"]
    assert functions == declared(root) and len(functions) == 8
    assert not others


def test_the_library_needs_no_torch(library):
    needed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    assert "torch" not in needed and "not found" not in needed


@pytest.mark.parametrize("policy", ["drf", "las", "index:alpha=1", "guarded"])
def test_a_manager_in_c_gets_a_decision(program, library, policy, moment):
    client = program.parent / "examples" / "plugin_client"
    done = subprocess.run([client, library, policy, moment], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["jobs"]
    assert done.stderr == ""


def test_a_manager_in_c_is_told_what_is_wrong(program, library, moment):
    client = program.parent / "examples" / "plugin_client"
    done = subprocess.run([client, library, "lass", moment], capture_output=True, text=True, timeout=600)
    assert done.returncode == 2 and "did you mean 'las'" in done.stderr
    other = subprocess.run([client, "libc.so.6", "las", moment], capture_output=True, text=True, timeout=600)
    assert other.returncode == 1 and "has no allot_plugin_version" in other.stderr


def test_the_header_is_c11(root, tmp_path):
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    source = tmp_path / "host.c"
    source.write_text('#include "plugin/allot_plugin.h"\nint main(void) { return allot_plugin_version() != ALLOT_PLUGIN_VERSION; }\n')
    subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                    f"-I{root / 'src'}", source], check=True)


def test_a_manager_in_python_runs_its_jobs(root, library, moment):
    checkpoint = root / "tests" / "golden" / "checkpoint"
    done = subprocess.run([sys.executable, root / "examples" / "plugin.py", library, f"learned:checkpoint={checkpoint}", moment],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^b: node 0 GPUs \[", done.stdout, re.MULTILINE)
    assert re.search(r"^b gets \d GPU", done.stdout, re.MULTILINE)


def test_a_decision_is_as_its_page_says(plugin, library, snapshot):
    with plugin.Policy(library, "las") as policy:
        decision = policy.decide(snapshot)
        assert set(decision) == {"decision", "holds_until", "jobs"}
        assert all(set(job) == {"job", "configuration", "relaunch", "shares"} for job in decision["jobs"])
        assert {job["job"] for job in decision["jobs"]} == {"a", "b"}
        assert policy.explain()["policy"] == "las"


def test_faults_of_a_manager_in_python_are_told(plugin, library, snapshot):
    with pytest.raises(RuntimeError, match="cannot open|no checkpoint|/no/such"):
        plugin.Policy(library, "learned:checkpoint=/no/such")
    with plugin.Policy(library, "drf") as policy:
        with pytest.raises(RuntimeError, match="no decision to explain"):
            policy.explain()
        with pytest.raises(RuntimeError, match="snapshot: 'interval' must be > 0, got 0"):
            policy.decide({**snapshot, "interval": 0})
        assert policy.decide(snapshot)["jobs"]


def test_two_policies_in_one_process(plugin, library, snapshot):
    with plugin.Policy(library, "fifo") as one, plugin.Policy(library, "drf") as other:
        assert one.decide(snapshot)["jobs"] and other.decide(snapshot)["jobs"]
        assert one.explain()["policy"] == "fifo" and other.explain()["policy"] == "drf"


def test_serve_decides_through_a_library(allot, program, library, tmp_path):
    (tmp_path / "jobs.toml").write_text(
        '[[job]]\nname = "a"\ngpus = 2\nmax = 4\n'
        f'command = ["{program.parent}/examples/elastic_counter", "--steps", "30", "--pace-ms", "1"]\n')
    for place in ([], ["--plugin", library]):
        state = tmp_path / f"state{len(place)}"
        served = allot("serve", "--runtime", "local:cluster=1x4,jobs=jobs.toml", "--policy", "drf", "--state", state,
                       "--interval", "0.5", "--until-idle", *place)
        assert "failed" not in served.stderr
        assert '"what":"over"' in (state / "journal.jsonl").read_text()


@pytest.mark.parametrize("library_given, words", [("/no/such.so", "cannot load '/no/such.so'"),
                                                  ("libc.so.6", "is no plugin")])
def test_serve_refuses_what_is_no_plugin(allot, tmp_path, library_given, words):
    stderr = allot("serve", "--plugin", library_given, "--state", tmp_path / "state", "--until-idle", exit=2).stderr
    assert words in stderr


def test_decisions_are_measured(allot, library):
    figures = json.loads(allot("bench", "serve", "--jobs", "30", "--decisions", "20", "--plugin", library, "--json").stdout)
    assert figures["plugin"]["decisions"] == 20
    assert figures["plugin"]["median_ms"] > 0
