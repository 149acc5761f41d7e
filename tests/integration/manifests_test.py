"""deploy/kubernetes as kustomize makes it, and the image's libraries. What fits what is in manifests_test.cc."""

import re
import shutil
import subprocess

import pytest

BASE = {"libc6", "libgcc-s1", "libstdc++6"}  # of every image with a program in C++


@pytest.fixture
def kustomize(root):
    if shutil.which("kubectl") is None:
        pytest.skip("needs kubectl")

    def render(folder):
        done = subprocess.run(["kubectl", "kustomize", root / folder], capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return render


def kinds(text):
    return sorted(re.findall(r"^kind: (\w+)$", text, re.MULTILINE))


def test_the_example_is_the_base_with_what_a_site_changes(kustomize):
    base, example = kustomize("deploy/kubernetes"), kustomize("deploy/kubernetes-example")
    assert sorted([*kinds(base), "ServiceMonitor"]) == kinds(example)
    assert "image: allot:latest" in base and "image: registry.example.com/allot:1.0" in example
    assert "- --policy" in base and "- --policy" not in example and "- --checkpoint" in example
    assert "key=/etc/allot/key,nodes=pool=training" in example


def test_the_example_s_checkpoint_is_in_the_image(root):
    dockerfile = (root / "deploy" / "kubernetes" / "Dockerfile").read_text()
    there = re.search(r"^COPY checkpoints (\S+)$", dockerfile, re.MULTILINE).group(1)
    named = re.search(rf"{there}/(\S+)", (root / "deploy" / "kubernetes-example" / "daemon.yaml").read_text()).group(1)
    assert (root / "checkpoints" / named).is_dir()


def test_the_image_has_the_libraries_that_the_program_needs(root, program):
    """By the packages of the libraries that the program built here names, without Slurm's."""
    if shutil.which("dpkg-query") is None or shutil.which("readelf") is None:
        pytest.skip("not a Debian system")
    dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    assert libraries
    needed = set()
    for library in libraries:
        owners = subprocess.run(["dpkg-query", "-S", f"*/{library}"], capture_output=True, text=True, check=False).stdout
        needed |= set(re.findall(r"^([^:,\s]+)", owners, re.MULTILINE)[:1])
    last = (root / "deploy" / "kubernetes" / "Dockerfile").read_text().split("FROM ")[-1]
    installed = set(re.search(r"--no-install-recommends ([^&]*)&&", last).group(1).replace("\\", " ").split())
    assert {name for name in needed - BASE if "slurm" not in name} <= installed
    assert not any(name.endswith("-dev") or name in ("g++", "cmake") for name in installed)
