#!/usr/bin/env python3
"""Speed of the environments from Python, each beside the engine's own loop in the same run; and whether memory grows.

    PYTHONPATH=build/release/python python bench/python_env.py [--out FILE.json]

Prints one JSON object. Pairs take turns, and the median of their ratios counts.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import time

import numpy as np

import allot

WORLD = {"setting": "trace:loads=0.9,gpus=64", "action": "index", "max_jobs": 128}
ENVS = 64
DL2_INCREMENTS_PER_S = 9900  # DL2's own environment, a constant policy (its Python, one core of a machine like this)


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def pool_against_engine(threads, copy, steps=150, repeats=7):
    pool = allot.GpuClusterVectorEnv(ENVS, threads=threads, copy=copy, **WORLD)
    actions = np.random.default_rng(0).normal(size=pool.action_space.shape).astype(np.float32)

    def from_python():
        for _ in range(steps):
            pool.step(actions)

    ratios, rates = [], []
    for _ in range(repeats):
        pool.reset(seed=0)  # the same steps each time
        engine = pool._pool.run(actions, steps)
        pool.reset(seed=0)
        python = seconds(from_python)
        ratios.append(engine / python)
        rates.append((ENVS * steps / engine, ENVS * steps / python))
    engine, python = (statistics.median(column) for column in zip(*rates))
    return {"engine_steps_per_s": engine, "python_steps_per_s": python, "ratio": statistics.median(ratios)}


def overhead_of_a_step(steps=20000, repeats=5):
    """Microseconds of env.step beyond the engine's step of the same action."""
    env = allot.GpuClusterEnv(setting="dl2:size=S", action="increments", max_jobs=16)
    engine, mask = env._engine, env._mask

    def whole():
        env.reset(seed=1)
        for _ in range(steps):
            *_, terminated, truncated, _ = env.step(int(mask.argmax()))
            if terminated or truncated:
                env.reset()

    def alone():
        engine.reset(1)
        for _ in range(steps):
            _, terminated, truncated, _ = engine.step_number(int(mask.argmax()))
            if terminated or truncated:
                engine.reset(None)

    pairs = [(seconds(whole), seconds(alone)) for _ in range(repeats)]
    return statistics.median((a - b) / steps * 1e6 for a, b in pairs)


def increments_per_second(threads, steps=3000, repeats=5):
    """Units added one at a time in DL2's world, by the pool; the first legal action each time. The median of some runs."""
    pool = allot.GpuClusterVectorEnv(ENVS, threads=threads, setting="dl2:size=S", action="increments", max_jobs=10, copy=False)

    def run():
        _, info = pool.reset(seed=0)
        for _ in range(steps):
            *_, info = pool.step(info["action_mask"].argmax(axis=1))

    return ENVS * steps / statistics.median(seconds(run) for _ in range(repeats))


def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def growth_mb(steps=1_000_000):
    """Memory that a million steps leave behind, after the first tenth."""
    env = allot.GpuClusterEnv(setting="dl2:size=S", action="increments", max_jobs=16)
    _, info = env.reset(seed=1)
    for step in range(steps):
        if step == steps // 10:
            before = resident_mb()
        *_, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        if terminated or truncated:
            _, info = env.reset()
    return resident_mb() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="also into this file")
    out = parser.parse_args().out
    increments = {str(threads): increments_per_second(threads) for threads in (1, 2)}
    result = {
        "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "pool": {str(threads): pool_against_engine(threads, copy=True) for threads in (1, 2)},
        "pool_without_copies": {str(threads): pool_against_engine(threads, copy=False) for threads in (1, 2)},
        "step_overhead_us": overhead_of_a_step(),
        "increments_per_s": increments,
        "increments_over_dl2": {threads: rate / DL2_INCREMENTS_PER_S for threads, rate in increments.items()},
        "growth_mb_over_a_million_steps": growth_mb(),
    }
    text = json.dumps(result, indent=2)
    print(text)
    if out:
        with open(out, "w") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
