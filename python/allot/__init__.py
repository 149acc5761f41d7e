"""allot: simulate, train and compare schedulers for GPU clusters."""

from allot._allot import version as _version
from allot.errors import CheckError, DataError, Error, RunError, UsageError

__version__ = _version()

__all__ = ["CheckError", "DataError", "Error", "RunError", "UsageError", "__version__"]
