"""A faster torchrun for jobs that are resized by a restart: `python -m allot_elastic.torchrun OPTIONS train.py ...`.

It is PyTorch's torchrun with all of its options, but it forks the processes of a script (allot_elastic.forked), so that PyTorch is
imported only once. Torchrun and its processes end without unloading PyTorch, because other jobs wait for their GPUs. The compiler
is not imported before a program compiles (allot_elastic.compiler). With `-m` or `--no-python` processes are started as usual.
"""

import sys

from allot_elastic.compiler import leave_for_later
from allot_elastic.importing import without_collecting

with without_collecting():
    from torch.distributed import run

from allot_elastic import forked  # noqa: E402


def main():
    leave_for_later()
    forked.fork_processes()
    run.main()


if __name__ == "__main__":
    sys.argv[0] = "torchrun"
    forked.end_after(main)
