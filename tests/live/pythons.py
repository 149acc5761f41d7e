"""Interpreters that training programs of tests run in."""

import functools
import subprocess
import sys
from pathlib import Path

import pytest


@functools.cache
def has_torch(python):
    """Whether it is there and can import PyTorch."""
    return Path(python).exists() and subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0


def python_with_torch():
    """An interpreter that has PyTorch: the one that jobs on Debian would use, if it has, as it loads in a second."""
    for python in ("/usr/bin/python3", sys.executable):
        if has_torch(python):
            return python
    pytest.skip("no Python here has PyTorch")


def python_with_its_own_torch():
    """One whose PyTorch is not that of the library: the tests' own."""
    if sys.executable == "/usr/bin/python3" or not has_torch(sys.executable):
        pytest.skip("the tests' Python has no PyTorch of its own")
    return sys.executable
