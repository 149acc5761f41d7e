"""Simulated GPU clusters as Gymnasium environments.

`gymnasium.make("allot/GpuCluster-v0", setting="dl2:size=S", action="increments")` makes one,
`gymnasium.make_vec(..., num_envs=64)` a pool that C++ steps on all cores. docs/python.md explains observations, actions,
masks and time.
"""

from allot.envs.cluster_env import GpuClusterEnv
from allot.envs.episode_state import EpisodeState
from allot.envs.registration import ids, register_all
from allot.envs.vector_env import GpuClusterVectorEnv

__all__ = ["EpisodeState", "GpuClusterEnv", "GpuClusterVectorEnv", "ids", "register_all"]
