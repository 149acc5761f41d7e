"""Ends a program whose worker must leave quickly, because another job waits for its GPU and PyTorch takes half a second to unload.

`leave()` ends the program like sys.exit(0): `finally`, `with` and atexit functions run, but the interpreter is not finalised.
Import it early, because atexit calls the function that was registered first as the last one.
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
    for child in multiprocessing.active_children():  # loaders of data
        child.terminate()
        child.join()
    logging.shutdown()  # logging and multiprocessing have atexit functions that may come after this one
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
