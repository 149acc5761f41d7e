"""What allot records, written by the program tests/tools/write_record_example.cc."""

import os
import pathlib
import subprocess

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def write_example(folder: pathlib.Path) -> pathlib.Path:
    """Fills the folder: datasets/ in Minari's layout, tensorboard/ with event files.

    The build is $ALLOT_BUILD (relative to the repository), else that of $ALLOT_PROGRAM, else build/release.
    """
    named = os.environ.get("ALLOT_BUILD") or os.path.dirname(os.environ.get("ALLOT_PROGRAM", ""))
    program = REPOSITORY / (named or "build/release") / "tests" / "write_record_example"
    if not program.exists() and not named:
        pytest.skip(f"not built: {program} (run ./dev build)")
    subprocess.run([program, folder], check=True)
    return folder
