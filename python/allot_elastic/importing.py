"""Imports many modules without the garbage collector, which would scan the new objects repeatedly (docs/torch.md has the cost)."""

import contextlib
import gc


@contextlib.contextmanager
def without_collecting():
    """Disables the collector within the block."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
