"""allot: simulate, train and compare schedulers for GPU clusters."""

from allot._allot import version as _version
from allot.envs import GpuClusterEnv, GpuClusterVectorEnv, register_all
from allot.errors import CheckError, DataError, Error, RunError, UsageError

__version__ = _version()

register_all()

__all__ = [
    "CheckError",
    "DataError",
    "Error",
    "GpuClusterEnv",
    "GpuClusterVectorEnv",
    "RunError",
    "UsageError",
    "__version__",
]
