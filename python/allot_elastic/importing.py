"""Imports of many modules, without the collector of garbage: it looks again and again through what is to stay, for a tenth of the
time that PyTorch takes to import."""

import contextlib
import gc


@contextlib.contextmanager
def without_collecting():
    """As it was before, afterwards."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
