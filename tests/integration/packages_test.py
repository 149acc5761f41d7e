"""Debian packages (cmake/AllotPackages.cmake): made, installed into an empty root, used and removed again.

Both tests take longer than 10 s: one packs and strips 100 MB, the other runs the whole demo from the installed program.
"""

import os
import re
import subprocess

import pytest

PACKAGES = ["allot", "allot-dev", "allot-elastic", "allot-slurm", "allot-torch"]


@pytest.fixture(scope="module")
def packages(program, cache, tmp_path_factory):
    """Name -> file of every package that this build makes."""
    if cache["ALLOT_WITH_TORCH:BOOL"] != "ON":
        pytest.skip("built without libtorch")
    out = tmp_path_factory.mktemp("packages")
    done = subprocess.run(["cpack", "--config", program.parent / "CPackConfig.cmake", "-B", out,
                           "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name.split("_")[0]: path for path in out.glob("*.deb")}


@pytest.fixture(scope="module")
def root(packages, tmp_path_factory):
    """An empty root into which all packages are installed; what they depend on is this machine's."""
    if os.geteuid() != 0:
        pytest.skip("only root installs packages")
    root = tmp_path_factory.mktemp("root")
    for folder in ("updates", "info", "triggers"):
        (root / "var/lib/dpkg" / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    dpkg(root, "--install", *packages.values())
    return root


def dpkg(root, *words):
    done = subprocess.run(["dpkg", f"--root={root}", "--force-depends,script-chrootless", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def files_of(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir() and "dpkg" not in path.parts}


def test_each_package_depends_on_what_debian_has(packages):
    assert sorted(packages) == PACKAGES
    listed = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Provides}\n"], capture_output=True, text=True).stdout
    installed = set(re.findall(r"[a-z0-9][a-z0-9.+-]+", listed))
    for name, path in packages.items():
        depends = subprocess.run(["dpkg-deb", "-f", path, "Depends"], capture_output=True, text=True, check=True).stdout
        named = {re.split(r"[ |(]", part.strip())[0] for part in depends.split(",")}
        assert "libc6" in named and named <= installed | set(PACKAGES), f"{name}: {named - installed}"
    torch = subprocess.run(["dpkg-deb", "-f", packages["allot"], "Depends"], capture_output=True, text=True).stdout
    assert "torch" not in torch, "who simulates and serves needs no libtorch"


def test_the_demo_runs_from_the_packages_which_leave_nothing_behind(root, program, tmp_path):
    repository = program.parents[2] if (program.parents[2] / "docs/demo.sh").exists() else None
    if repository is None:
        pytest.skip("no repository around the program")
    assert {"usr/bin/allot", "usr/bin/allot-torch", "usr/bin/allot-elastic"} <= files_of(root)
    assert "ExecStart=/usr/bin/allot " in (root / "usr/lib/systemd/system/allot.service").read_text()
    (root / "usr/bin/examples").symlink_to(program.parent / "examples")  # the jobs of the demo, which no package has
    done = subprocess.run(["bash", repository / "docs/demo.sh", root / "usr/bin/allot", tmp_path / "demo"], cwd=repository,
                          capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert (tmp_path / "demo/report.html").stat().st_size > 100_000
    (root / "usr/bin/examples").unlink()
    dpkg(root, "--purge", *PACKAGES)
    assert files_of(root) == set()
