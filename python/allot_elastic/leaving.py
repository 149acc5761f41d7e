"""The end of a program whose worker is to leave: its GPU is wanted, and PyTorch takes half a second to unload.

`leave()` ends the program as sys.exit(0) does: what stands in `finally` and `with` is done, and what the program and its modules
have registered with atexit. Only the interpreter is not taken apart. Imported early, as atexit calls the first that came last.
"""

import atexit
import logging
import multiprocessing
import os
import sys

_leaves = False


def leave():
    global _leaves
    _leaves = True
    sys.exit(0)


@atexit.register
def _end_at_once():
    if not _leaves or hasattr(sys, "last_type"):  # another exception ended it, and its exit code is 1
        return
    for child in multiprocessing.active_children():  # which load data
        child.terminate()
        child.join()
    logging.shutdown()  # both have handlers of their own, which may come after this one
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
