"""`cmake --install`: each component has what docs/deploy.md, torch.md and plugin.md tell people to use, where they say."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys

import pytest

# Component -> files that the pages name; what others need besides is theirs.
FILES = {
    "daemon": ["bin/allot", "share/allot/grafana/allot.json", "share/allot/prometheus/allot.rules.yaml", "share/allot/checkpoints/philly-elastic/accepted/manifest.json",
               "share/allot/checkpoints/dl2/accepted/manifest.json", "share/allot/checkpoints/universal/accepted/manifest.json"],
    "slurm": ["lib/systemd/system/allot.service", "share/allot/systemd/serve.toml", "share/allot/systemd/commands.conf",
              "share/allot/slurm/job_submit.lua"],
    "training": ["bin/allot-torch"],
    "jobs": ["bin/allot-elastic", "lib/allot/python/allot_elastic/torch.py", "share/allot/examples/mlp.py"],
    "jobs-torch": ["lib/liballot_elastic.so", "include/allot/elastic/torch/allot_elastic.h"],
    "plugin": ["lib/liballot_plugin.so", "include/allot/plugin/allot_plugin.h", "share/allot/examples/plugin_client.c"],
}
NEEDS_TORCH = {"bin/allot-torch", "lib/liballot_elastic.so", "include/allot/elastic/torch/allot_elastic.h"}


@pytest.fixture(scope="module")
def torch(cache):
    """Whether this build has libtorch."""
    return cache["ALLOT_WITH_TORCH:BOOL"] == "ON"


@pytest.fixture(scope="module")
def prefix(program, cache, tmp_path_factory):
    """Where all components but the library are installed, each alone. Read-only."""
    del cache  # where there is none, nothing is installed
    prefix = tmp_path_factory.mktemp("installed")
    for component in FILES:
        done = subprocess.run(["cmake", "--install", program.parent, "--prefix", prefix, "--component", component],
                              capture_output=True, text=True)
        assert done.returncode == 0, f"{component}: {done.stderr}"
    return prefix


@pytest.mark.parametrize("component", FILES)
def test_a_component_has_its_files(torch, prefix, component):
    missing = [file for file in FILES[component] if (torch or file not in NEEDS_TORCH) and not (prefix / file).is_file()]
    assert not missing


def test_what_the_pages_call_installed_is_there(root, torch, prefix):
    if not torch:
        pytest.skip("built without libtorch")
    pages = (root / "docs/deploy.md").read_text() + (root / "docs/torch.md").read_text()
    named = set(re.findall(r"/usr/local/([\w/.-]+)", pages))
    assert len(named) > 3 and not [path for path in named if not (prefix / path).exists()], named


@pytest.mark.parametrize("page", ["torch", "plugin"])
def test_the_examples_that_a_page_names_are_there(root, prefix, page):
    named = set(re.findall(r"examples/[\w/]+\.\w+", (root / f"docs/{page}.md").read_text()))
    assert named and not [path for path in named if not (prefix / "share/allot" / path).is_file()], named


def test_no_file_leads_back_to_the_build(program, prefix):
    """Nor may others write it: the daemon loads it."""
    for path in prefix.rglob("*"):
        if path.is_symlink():
            assert prefix in path.resolve().parents, path
        elif path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            dynamic = subprocess.run(["readelf", "--dynamic", path], capture_output=True, text=True, check=True).stdout
            assert str(program.parent) not in "".join(re.findall(r"R(?:UN)?PATH.*", dynamic)), path
            assert not path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH), path


def test_the_service_starts_the_installed_program(prefix):
    unit = (prefix / "lib/systemd/system/allot.service").read_text()
    assert re.findall(r"^ExecStart=(\S+)", unit, re.MULTILINE) == [str(prefix / "bin/allot")]


def test_what_is_staged_names_its_later_place(program, cache, tmp_path):
    del cache
    subprocess.run(["cmake", "--install", program.parent, "--prefix", "/opt/allot", "--component", "slurm"],
                   env={**os.environ, "DESTDIR": str(tmp_path)}, check=True, capture_output=True)
    assert "ExecStart=/opt/allot/bin/allot " in (tmp_path / "opt/allot/lib/systemd/system/allot.service").read_text()


def test_the_options_of_the_service_are_ones_of_serve(prefix, root, tmp_path):
    """Also those behind '#'; runtime and policy are others here, where no Slurm is."""
    text = (prefix / "share/allot/systemd/serve.toml").read_text()
    (tmp_path / "serve.toml").write_text(re.sub(r"^#(?=[\[a-z])", "", text, flags=re.MULTILINE))
    done = subprocess.run([prefix / "bin/allot", "serve", "--config", tmp_path / "serve.toml", "--runtime", "local:cluster=1x1",
                           "--checkpoint", root / "checkpoints/philly-elastic/accepted", "--metrics", "tcp:127.0.0.1:0",
                           "--state", tmp_path / "s", "--until-idle"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "[rules]" in text and 'runtime = "slurm:address=:' in text


def test_what_was_installed_can_be_removed(root, tmp_path):
    """By the manifests that cmake leaves in the build folder; here those of a folder of the test's own."""
    (tmp_path / "usr/share/allot/slurm").mkdir(parents=True)
    for name in ("usr/bin/other", "usr/bin/allot", "usr/share/allot/slurm/job_submit.lua"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "install_manifest_slurm.txt").write_text("/usr/bin/allot\n/usr/share/allot/slurm/job_submit.lua")
    words = ["cmake", "-D", f"FOLDER={tmp_path}", "-P", root / "cmake/AllotUninstall.cmake"]
    subprocess.run(words, env={**os.environ, "DESTDIR": str(tmp_path)}, check=True, capture_output=True)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["usr", "usr/bin", "usr/bin/other", "usr/share"]
    again = subprocess.run(words, capture_output=True, text=True)
    assert again.returncode != 0 and "nothing was installed" in again.stderr


@pytest.mark.skipif(os.path.exists("/etc/slurm/slurm.conf"), reason="this machine is of a cluster")
def test_the_installed_program_loads_the_installed_module(program, prefix, tmp_path):
    if not list(program.parent.glob("liballot_slurm-*.so")):
        pytest.skip("built without libslurm")
    unset = {name: value for name, value in os.environ.items() if name != "SLURM_CONF"}
    done = subprocess.run([prefix / "bin/allot", "serve", "--runtime", f"slurm:api=libslurm,programs={tmp_path}", "--state",
                           tmp_path / "state"], env=unset, capture_output=True, text=True, timeout=120)
    assert "a slurm.conf must exist, got none at" in done.stderr, "the module says that, once it is loaded"


def test_a_released_checkpoint_decides(prefix, tmp_path):
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,1,600\n")
    checkpoint = prefix / "share/allot/checkpoints/philly-elastic/accepted"
    done = subprocess.run([prefix / "bin/allot", "simulate", "--workload", "jobs.csv", "--cluster", "1x4", "--policy",
                           f"learned:checkpoint={checkpoint}", "--json"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_the_python_package_finds_its_library(torch, prefix, tmp_path):
    """With nothing but PYTHONPATH, also where all of it was moved."""
    if not torch:
        pytest.skip("built without libtorch")
    moved = tmp_path / "allot"
    shutil.copytree(prefix, moved, symlinks=True)
    unset = {name: value for name, value in os.environ.items() if name != "ALLOT_ELASTIC_LIBRARY"}
    code = "import allot_elastic; print(allot_elastic.load()._name)"
    done = subprocess.run([sys.executable, "-c", code], env={**unset, "PYTHONPATH": str(moved / "lib/allot/python")},
                          capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == str(moved / "lib/allot/liballot_elastic.so"), done.stderr


def test_a_program_in_c_is_built_with_the_installed_header(prefix, tmp_path):
    """The example of docs/plugin.md, which loads the installed library."""
    (tmp_path / "snapshot.json").write_text(
        '{"snapshot": 1, "now": 0, "interval": 60, "cluster": "1x4", "tables": [{"kinds": [{"name": "gpu", "gpus": 1}], '
        '"configurations": [{"units": [1], "rate": 1}]}], "jobs": [{"job": "a", "submit": 0, "table": 0, "requested": 0}]}')
    subprocess.run(["cc", "-std=c11", "-I", prefix / "include/allot", prefix / "share/allot/examples/plugin_client.c", "-o", tmp_path / "client", "-ldl"],
                   check=True, capture_output=True, text=True)
    done = subprocess.run([tmp_path / "client", prefix / "lib/liballot_plugin.so", "drf", tmp_path / "snapshot.json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
