"""MaskablePPO of sb3-contrib learns the task Dl2S of the contest, unit by unit, and is compared with Optimus.

    python maskable_ppo_sb3.py --minutes 9 --seed 0
    allot score -p maskable-ppo=python:maskable_ppo_sb3.py:Trained

Needs stable-baselines3 and sb3-contrib. What it reaches: docs/python-learning.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks are faster on one thread

import argparse
import json
import subprocess
import sys
import time

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

import allot
import allot.sb3

WORLD = {
    "task": "Dl2S-v1", "action": "increments", "max_jobs": 10,  # S has ten jobs
    # In units of all ten jobs waiting for one slot of 300 s, so that values are a few units large.
    "reward": "jct", "reward_scale": 1 / (300 * 10),
}
KINDS = 3  # a worker, a parameter server, one of each
HELD_OUT = 1_000_000  # episodes of these seeds and above are for the comparison


class JobNetwork(nn.Module):
    """The same small network for every job, beside the mean over all jobs: the order of jobs does not matter."""

    def __init__(self, space, hidden=32):
        super().__init__()
        (jobs, features), (context,) = space["jobs"].shape, space["context"].shape
        self.of_job, self.of_context = nn.Linear(features + 2, hidden), nn.Linear(context, hidden)
        self.encode = nn.Sequential(nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.unit, self.unit_of_pool = nn.Linear(hidden, KINDS), nn.Linear(hidden, KINDS)
        self.done = nn.Linear(hidden, 1)
        self.value = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh())
        self.latent_dim_pi, self.latent_dim_vf = jobs * KINDS + 1, hidden

    def encoded(self, observation):
        granted = observation["granted"].unsqueeze(-1)
        jobs = torch.cat([observation["jobs"], torch.log1p(granted), granted / 8], -1)
        each = self.encode(self.of_job(jobs) + self.of_context(observation["context"]).unsqueeze(1))
        each = each * observation["job_mask"].unsqueeze(-1)
        return each, each.sum(1) / 5

    def logits(self, each, pool):
        units = self.unit(each) + self.unit_of_pool(pool).unsqueeze(1)
        return torch.cat([units.flatten(1), self.done(pool)], -1)

    def forward(self, observation):
        each, pool = self.encoded(observation)
        return self.logits(each, pool), self.value(pool)

    def forward_actor(self, observation):
        return self.logits(*self.encoded(observation))

    def forward_critic(self, observation):
        return self.value(self.encoded(observation)[1])


class AsItIs(BaseFeaturesExtractor):
    """Hands the dict of observations to JobNetwork."""

    def __init__(self, space):
        super().__init__(space, features_dim=1)

    def forward(self, observation):
        return observation


class JobPolicy(MaskableActorCriticPolicy):
    """JobNetwork gives the logits of all actions itself, so nothing is between it and the distribution."""

    def _build(self, lr_schedule):
        super()._build(lr_schedule)
        self.action_net = nn.Identity()
        for last in (self.mlp_extractor.unit, self.mlp_extractor.unit_of_pool, self.mlp_extractor.done):
            nn.init.normal_(last.weight, std=0.01)  # at first all legal actions are about equally likely
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _build_mlp_extractor(self):
        self.mlp_extractor = JobNetwork(self.observation_space)


class Trained(allot.Sb3Policy):
    """The saved model as a policy. Its actions are drawn: the likeliest one can starve a job for ever."""

    def __init__(self, model="maskable_ppo.zip"):
        super().__init__(model, deterministic=False, trained_on=[])

    def decide(self, observation):
        if len(observation) > WORLD["max_jobs"]:
            raise allot.UsageError(f"trained for {WORLD['max_jobs']} jobs, there are {len(observation)}")
        return super().decide(observation)


class UntilCpuTime(BaseCallback):
    """Ends training after so many seconds of CPU time; the learning rate falls to a tenth over them."""

    def __init__(self, seconds, report=60):
        super().__init__()
        self.seconds, self.report, self.next_report = seconds, report, report

    def _on_training_start(self):
        self.begin = time.process_time()
        self.rate = self.model.lr_schedule(1)
        self.model.lr_schedule = lambda _: self.rate * (1 - 0.9 * min(1.0, self.spent() / self.seconds))

    def spent(self):
        return time.process_time() - self.begin

    def _on_step(self):
        if self.spent() > self.next_report:
            self.next_report += self.report
            waits = [each["avg_jct_s"] for each in self.model.ep_info_buffer if "avg_jct_s" in each]
            jct = np.mean(waits) if waits else float("nan")
            print(f"{self.spent():5.0f} CPU-s {self.num_timesteps:9d} steps, average JCT {jct:.0f} s", flush=True)
        return self.spent() < self.seconds


def train(minutes, seed, envs=64):
    torch.set_num_threads(1)
    env = allot.sb3.make_vec_env(envs, threads=1, **WORLD)
    model = MaskablePPO(
        JobPolicy, env, policy_kwargs={"features_extractor_class": AsItIs}, seed=seed,
        learning_rate=1e-3, n_steps=256, batch_size=2048, n_epochs=4,
        gamma=1.0, gae_lambda=0.98, ent_coef=0.003, vf_coef=0.5, clip_range=0.2, device="cpu",
        stats_window_size=500,
    )
    model.learn(10**9, callback=UntilCpuTime(60 * minutes))
    return model


def average_jct(model, episodes, deterministic):
    """Of held-out episodes, all side by side: the likeliest action each time, or drawn ones as in training."""
    model.set_random_seed(1)
    env = allot.sb3.make_vec_env(episodes, threads=1, monitor=False, **WORLD)
    env.seed(HELD_OUT)
    observation, ended = env.reset(), {}
    for _ in range(5_000):
        if len(ended) == episodes:
            break
        masks = np.stack(env.env_method("action_masks"))
        actions, _ = model.predict(observation, action_masks=masks, deterministic=deterministic)
        observation, _, done, infos = env.step(actions)
        for i in np.flatnonzero(done):
            ended.setdefault(i, infos[i]["avg_jct_s"])
    return np.array([ended.get(i, np.inf) for i in range(episodes)])


def optimus_jct(episodes):
    """The same episodes by Optimus as DL2's program has it."""
    command = f"compare --setting dl2:size=S --policies optimus --workloads {episodes} --seed {HELD_OUT} --json"
    done = subprocess.run([sys.executable, "-m", "allot", *command.split()], capture_output=True, text=True, check=True)
    return np.array([run["avg_jct_s"] for run in json.loads(done.stdout)["policies"][0]["runs"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=9, help="CPU minutes of training")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=100, help="held-out episodes for the comparison")
    given = parser.parse_args()
    model = train(given.minutes, given.seed)
    model.save("maskable_ppo.zip", exclude=["lr_schedule"])  # it holds the callback
    optimus = optimus_jct(given.episodes).mean()
    for how, deterministic in (("drawn", False), ("likeliest", True)):
        ours = average_jct(model, given.episodes, deterministic).mean()
        print(f"{how} actions: average JCT {ours:.0f} s, Optimus {optimus:.0f} s, ratio {ours / optimus:.3f}", flush=True)


if __name__ == "__main__":
    main()
