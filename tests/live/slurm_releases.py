#!/usr/bin/env python3
"""Slurm of other Debian releases, for throw-away clusters of it (cluster.py).

    slurm_releases.py trixie       unpack Slurm of that release once; prints the folder

A folder in HOME, outside of the tree, which all users may enter, holds that Debian's own loader and libraries, and its
programs of Slurm run here with them, beside whatever else is installed: no container. `./dev slurm` makes it: 1 to 2
minutes, 350 MB, as root.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HOME = Path(os.environ.get("ALLOT_SLURM") or "/var/cache/allot/slurm")  # jobs of other users run from there, too
PACKAGES = ("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge")
PROGRAMS = ("sbin/munged", "sbin/slurmctld", "sbin/slurmd", "sbin/slurmstepd", "bin/sbatch", "bin/squeue",
            "bin/scontrol", "bin/scancel", "bin/sinfo", "bin/srun", "bin/salloc")
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def there():
    """Those that are unpacked: name -> folder."""
    found = sorted(HOME.iterdir()) if HOME.is_dir() else []
    return {path.name: path for path in found if path.is_dir() and not path.name.endswith(".part")}


def unpack(name):
    folder = HOME / name
    if folder.exists():
        return folder
    part = HOME / f"{name}.part"
    shutil.rmtree(part, ignore_errors=True)
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / f"{name}.part.log").open("w") as log:
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", name, part], check=True,
                       stdout=log, stderr=log)
    for program in PROGRAMS:
        path = part / "usr" / program
        if path.is_symlink():  # Debian's alternatives lead to /etc, which is ours
            path.unlink()
            path.symlink_to(f"{path.name}-wlm")
        subprocess.run(["patchelf", "--force-rpath", "--set-rpath", f"{folder / LIBRARIES}:{plugins_of(folder)}",
                        "--set-interpreter", folder / "usr/lib64/ld-linux-x86-64.so.2", path.resolve()], check=True)
    (part / "programs").mkdir()  # these alone go onto PATH: others would not find that folder's libraries
    for program in PROGRAMS:
        (part / "programs" / Path(program).name).symlink_to(f"../usr/{program}")
    part.rename(folder)
    return folder


def plugins_of(folder):
    return folder / LIBRARIES / "slurm-wlm"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(unpack(sys.argv[1]))


if __name__ == "__main__":
    main()
