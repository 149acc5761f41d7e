"""MaskablePPO of sb3-contrib, as it comes, on a trace of your own: train on its first days, compare on the last one.

    python own_trace_ppo.py --steps 80000
    python own_trace_ppo.py --workload my.csv --cluster 8x4 --load 0.9 --steps 200000

Without --workload it makes a trace of 300 jobs over three days. What it reaches: docs/python-learning.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks are faster on one thread

import argparse
import csv

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import allot.sb3


def write_trace(path, jobs=300, days=3, seed=0):
    """Jobs of 1 to 8 GPUs, most of them short, more of them by day."""
    rng = np.random.default_rng(seed)
    hours = np.sort(rng.uniform(0, 24 * days, 4 * jobs))
    busy = rng.random(len(hours)) < 0.5 + 0.5 * np.sin(2 * np.pi * (hours % 24 - 8) / 24)
    hours = np.sort(rng.choice(hours[busy], jobs, replace=False))
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["job_id", "submit_s", "gpus", "duration_s"])
        for i, hour in enumerate(hours):
            gpus = rng.choice([1, 2, 4, 8], p=[0.5, 0.2, 0.2, 0.1])
            table.writerow([f"job-{i}", round(3600 * hour), gpus, round(np.clip(rng.lognormal(8.3, 1.3), 60, 86400))])
    return path


class Progress(BaseCallback):
    """Prints the average job completion time of the last 100 episodes, after each update."""

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        waits = [each["avg_jct_s"] for each in self.model.ep_info_buffer]
        if waits:
            print(f"{self.num_timesteps:8d} steps: average JCT {np.mean(waits):.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", help="a CSV of job_id, submit_s, gpus, duration_s")
    parser.add_argument("--cluster", default="4x4")
    parser.add_argument("--load", type=float, default=0.9)
    parser.add_argument("--steps", type=int, default=80_000)
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workloads", type=int, default=4, help="of the last day, for the comparison")
    given = parser.parse_args()
    workload = given.workload or write_trace("own-trace.csv")
    world = {"workload": workload, "cluster": given.cluster, "load": given.load, "span": "1d", "interval": 300}

    # The default reward is "jobs", whose values are small numbers: default options can learn from it.
    env = allot.sb3.make_vec_env(given.envs, threads=1, action="increments", max_jobs=16, to="2d", **world)
    model = MaskablePPO("MultiInputPolicy", env, seed=given.seed, device="cpu")
    model.learn(given.steps, callback=Progress())
    model.save("own-ppo")

    # Drawn actions: the likeliest ones of a policy that is not trained long may leave a job waiting for ever.
    trained_on = [{"workload": str(workload), "from": "0", "to": "2d"}]
    policy = allot.Sb3Policy(model, name="ppo", deterministic=False, trained_on=trained_on)
    policies = [policy, "srtf", "index", "fifo"]
    print(allot.compare(policies, workloads=given.workloads, seed=1, threads=1, bar=False, **{"from": "2d"}, **world))


if __name__ == "__main__":
    main()
