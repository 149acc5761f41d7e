"""fork_program.py FILE ARGUMENTS...: main() of a program, with what it imports, in a fork for each line (forking.py)."""

import contextlib
import importlib
import sys
from pathlib import Path

from forking import in_each_fork

path = Path(sys.argv[1])
sys.path.insert(0, str(path.parent))
with contextlib.redirect_stdout(sys.stderr):  # ours says the numbers of forks
    program = importlib.import_module(path.stem)
in_each_fork()
sys.argv[:2] = [str(path)]
program.main()
