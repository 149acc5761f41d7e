"""torchrun, for jobs that are resized by a restart, and wait for it each time: `python -m allot_elastic.torchrun OPTIONS train.py ...`.

It is PyTorch's own, with all of its options. But the processes of a script are forked from it (allot_elastic.forked): PyTorch is
imported once, and not again by each of them. Neither they nor torchrun take PyTorch apart when they end, while their GPUs are
wanted. And the compiler is not imported before a program compiles (allot_elastic.compiler). What is not a script, as with `-m`
or `--no-python`, is started as ever.
"""

import sys

from allot_elastic.compiler import leave_for_later
from allot_elastic.importing import without_collecting

with without_collecting():
    from torch.distributed import run

from allot_elastic import forked  # noqa: E402


def main():
    leave_for_later()
    forked.take_the_place_of_processes()
    run.main()


if __name__ == "__main__":
    sys.argv[0] = "torchrun"
    forked.end_after(main)
