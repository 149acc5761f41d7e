"""allot: simulate, train and compare schedulers for GPU clusters."""

from allot._allot import Allocation, Observation, StepFacts
from allot._allot import version as _version
from allot.checkpoints import Checkpoint, export_onnx, load_checkpoint, networks, new_checkpoint
from allot.data import flat_dataset
from allot.envs import GpuClusterEnv, GpuClusterVectorEnv, register_all
from allot.errors import CheckError, DataError, Error, RunError, UsageError
from allot.experiments import compare, evaluate, score, simulate, sweep
from allot.learning import Learned, learn
from allot.policy import Policy, Table, register_policy
from allot.results import Comparison, Run, Sweep
from allot.rewards import register_reward
from allot.trained import OnnxPolicy, Sb3Policy, TorchPolicy, TrainedPolicy

__version__ = _version()

register_all()

__all__ = [
    "Allocation",
    "CheckError",
    "Checkpoint",
    "Comparison",
    "DataError",
    "Error",
    "GpuClusterEnv",
    "GpuClusterVectorEnv",
    "Learned",
    "Observation",
    "OnnxPolicy",
    "Policy",
    "Run",
    "RunError",
    "Sb3Policy",
    "StepFacts",
    "Sweep",
    "Table",
    "TorchPolicy",
    "TrainedPolicy",
    "UsageError",
    "__version__",
    "compare",
    "evaluate",
    "export_onnx",
    "flat_dataset",
    "learn",
    "load_checkpoint",
    "networks",
    "new_checkpoint",
    "register_policy",
    "register_reward",
    "score",
    "simulate",
    "sweep",
]


def __getattr__(name: str):
    """allot.sb3 and allot.torchrl, imported when they are asked for: they need what allot does not."""
    if name in ("sb3", "torchrl"):
        import importlib

        return importlib.import_module(f"allot.{name}")
    raise AttributeError(f"module 'allot' has no attribute '{name}'")
