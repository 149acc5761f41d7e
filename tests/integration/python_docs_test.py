"""The Python of the documents runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("allot", reason="the Python package is not built (ALLOT_WITH_PYTHON)")
ROOT = Path(__file__).resolve().parents[2]


def programs(name):
    """Blocks of Python that are whole programs: those that import allot."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.MULTILINE | re.DOTALL)
    return [block for block in blocks if re.search(r"^(import|from) .*allot", block, re.MULTILINE)]


DOCUMENTS = [
    (str(path.relative_to(ROOT)), number)
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("python*.md"))]
    for number in range(len(programs(path.relative_to(ROOT))))
]


@pytest.mark.parametrize("name, number", DOCUMENTS)
def test_programs_of_the_documents_run(name, number, tmp_path):
    done = subprocess.run([sys.executable, "-c", programs(name)[number]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_readme_has_one():
    assert programs("README.md")


def test_the_reference_is_that_of_the_docstrings():
    done = subprocess.run([sys.executable, ROOT / "docs" / "python_reference.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
