"""allot: simulate, train and compare schedulers for GPU clusters."""

from allot._allot import version as _version
from allot.checkpoints import Checkpoint, export_onnx, load_checkpoint, networks, new_checkpoint
from allot.envs import GpuClusterEnv, GpuClusterVectorEnv, register_all
from allot.errors import CheckError, DataError, Error, RunError, UsageError

__version__ = _version()

register_all()

__all__ = [
    "CheckError",
    "Checkpoint",
    "DataError",
    "Error",
    "GpuClusterEnv",
    "GpuClusterVectorEnv",
    "RunError",
    "UsageError",
    "__version__",
    "export_onnx",
    "load_checkpoint",
    "networks",
    "new_checkpoint",
]
