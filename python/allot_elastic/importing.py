"""Imports of many modules, without the collector of garbage, which looks again and again through what is to stay (docs/torch.md has
what that costs)."""

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
