"""The ids of Gymnasium: allot/GpuCluster-v0, a named one for every setting and for every task of the contest."""

from __future__ import annotations

import gymnasium

from allot import _allot

_NAMES = {"trace": "Philly"}  # the default source of the setting


def ids() -> dict[str, dict[str, object]]:
    """All ids with the options that they stand for."""
    found: dict[str, dict[str, object]] = {"allot/GpuCluster-v0": {}}
    for name, _, params in _allot.settings():
        title = _NAMES.get(name, name.capitalize())
        if name == "trace":
            found[f"allot/{title}-v0"] = {"setting": "trace:random-start=true"}
        else:
            found[f"allot/{title}-v0"] = {"setting": name}
        for param, _, values in params:
            if param == "size":  # the help lists them
                for size in values.split(", "):
                    found[f"allot/{title}{size}-v0"] = {"setting": f"{name}:size={size}"}
    for task in _allot.score_tasks():
        found[f"allot/Score-{task}"] = {"task": task, "split": "train"}
    return found


def register_all() -> None:
    """Registers the ids; importing allot does it. A second call does nothing."""
    for id_, options in ids().items():
        if id_ in gymnasium.registry:
            continue
        gymnasium.register(
            id=id_,
            entry_point="allot.envs:GpuClusterEnv",
            vector_entry_point="allot.envs:GpuClusterVectorEnv",
            kwargs=dict(options),
        )
