"""PyTorch's compiler, not imported before somebody compiles.

Since PyTorch 2 the first optimizer imports torch._dynamo, only to keep the compiler out of its own methods. That takes as long as
all the rest of PyTorch, and each new worker waits for it. Until something of the compiler is really asked for nothing can be
compiled, so its place is taken by a module that says so, and becomes the real one with the first other question.
"""

import functools
import importlib
import importlib.util
import sys
import types

_NAME = "torch._dynamo"


class _NotYet(types.ModuleType):
    """What optimizers ask of the compiler, while there is none."""

    def graph_break(self, *_, **__):
        """Ends a part that is compiled; there is none."""

    def disable(self, fn=None, recursive=True, **more):
        """`fn`, which is kept out of the compiler once there is one."""
        if fn is None:
            return _compiler().disable(recursive=recursive, **more)
        kept = functools.cache(lambda: _compiler().disable(fn, recursive, **more))

        @functools.wraps(fn)
        def called(*arguments, **named):
            return (fn if sys.modules.get(_NAME) is self else kept())(*arguments, **named)
        return called

    def __getattr__(self, name):
        if name.startswith("__") and name != "__path__":  # asked of all modules, as by `inspect`
            raise AttributeError(name)
        return getattr(_compiler(), name)


def _compiler():
    """The real module."""
    if isinstance(sys.modules.get(_NAME), _NotYet):
        del sys.modules[_NAME]
    return importlib.import_module(_NAME)


def leave_for_later():
    """Has no effect where it was imported already, or where this PyTorch has none."""
    import torch
    if _NAME not in sys.modules and importlib.util.find_spec(_NAME):
        torch._dynamo = sys.modules[_NAME] = _NotYet(_NAME)
