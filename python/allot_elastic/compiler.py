"""Delays the import of PyTorch's compiler until it is used.

Since PyTorch 2 the first optimizer imports torch._dynamo, only to keep the compiler out of its own methods. That takes as long as
the rest of PyTorch, and each new worker waits for it. So a module stands in for torch._dynamo; it answers the optimizers' calls,
and is replaced by the real module at any other access.
"""

import functools
import importlib
import importlib.util
import sys
import types

_NAME = "torch._dynamo"


class _NotYet(types.ModuleType):
    """The functions of the compiler that optimizers use."""

    def graph_break(self, *_, **__):
        """Does nothing, because nothing is compiled yet."""

    def disable(self, fn=None, recursive=True, **more):
        """`fn`, excluded from compilation once the compiler is imported."""
        if fn is None:
            return _compiler().disable(recursive=recursive, **more)
        kept = functools.cache(lambda: _compiler().disable(fn, recursive, **more))

        @functools.wraps(fn)
        def called(*arguments, **named):
            return (fn if sys.modules.get(_NAME) is self else kept())(*arguments, **named)
        return called

    def __getattr__(self, name):
        if name.startswith("__") and name != "__path__":  # `inspect` and others read these of all modules
            raise AttributeError(name)
        return getattr(_compiler(), name)


def _compiler():
    """The real module."""
    if isinstance(sys.modules.get(_NAME), _NotYet):
        del sys.modules[_NAME]
    return importlib.import_module(_NAME)


def leave_for_later():
    """Installs the module; no effect if the compiler was imported already or this PyTorch has none."""
    import torch
    if _NAME not in sys.modules and importlib.util.find_spec(_NAME):
        torch._dynamo = sys.modules[_NAME] = _NotYet(_NAME)
