"""PPO with action masks in one file, after CleanRL: gymnasium's vector environment, torch, nothing else.

    python ppo_single_file.py --steps 1000000
    allot score -p ppo=python:ppo_single_file.py:Trained

It learns the task Dl2S of the contest. An agent builds each allocation unit by unit (action "increments"). Steps within a decision take no time, so
returns are discounted by simulated time: gamma ** (dt / interval).
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import allot  # registers the environments

JOBS, KINDS = 10, 3


class Agent(nn.Module):
    """One network for each job and the mean over jobs: actor and critic in one."""

    def __init__(self, job_features, context_features, hidden=64):
        super().__init__()
        self.encode = nn.Sequential(
            nn.Linear(job_features + 1 + context_features, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()
        )
        self.unit, self.done = nn.Linear(2 * hidden, KINDS), nn.Linear(hidden, 1)
        self.value = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        for last in (self.unit, self.done):
            nn.init.normal_(last.weight, std=0.01)

    def forward(self, jobs, context, there, mask):
        context = context.unsqueeze(1).expand(-1, jobs.shape[1], -1)
        each = self.encode(torch.cat([jobs, context], -1)) * there.unsqueeze(-1)
        pool = each.sum(1) / 5
        units = self.unit(torch.cat([each, pool.unsqueeze(1).expand_as(each)], -1)).flatten(1)
        logits = torch.cat([units, self.done(pool)], -1).masked_fill(~mask, -1e9)
        return Categorical(logits=logits), self.value(pool).squeeze(-1)


def tensors(observation, info):
    granted = np.log1p(observation["granted"])[..., None]
    jobs = np.concatenate([observation["jobs"], granted], -1)
    there = observation["job_mask"].astype(np.float32)
    return [torch.from_numpy(x) for x in (jobs, observation["context"].copy(), there, info["action_mask"].astype(bool))]


class Trained(allot.TrainedPolicy):
    """The saved agent as a policy; its actions are drawn."""

    def __init__(self, model="ppo.pt"):
        super().__init__(self.draw, action="increments", max_jobs=JOBS, trained_on=[])
        sizes, weights = torch.load(model)
        self.agent = Agent(*sizes)
        self.agent.load_state_dict(weights)

    def decide(self, observation):
        if len(observation) > JOBS:
            raise allot.UsageError(f"trained for {JOBS} jobs, there are {len(observation)}")
        return super().decide(observation)

    def draw(self, seen, mask):
        with torch.no_grad():
            return self.agent(*tensors({name: x[None] for name, x in seen.items()}, {"action_mask": mask[None]}))[0].sample().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000, help="of all environments together")
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--length", type=int, default=256, help="steps of each environment between two updates")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    rng = np.random.default_rng(given.seed)

    envs = gymnasium.make_vec(
        "allot/Score-Dl2S-v1", num_envs=given.envs, vectorization_mode="vector_entry_point",
        split="train", action="increments", max_jobs=JOBS, autoreset_mode="SameStep",
        reward="jct", reward_scale=1 / (300 * JOBS),  # in slots of 300 s of all jobs: values are a few units large
    )
    observation, info = envs.reset(seed=given.seed)
    spaces = envs.single_observation_space
    sizes = spaces["jobs"].shape[1], spaces["context"].shape[0]
    agent = Agent(*sizes)
    optimiser = torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
    interval, gamma, lam = 300, 1.0, 0.95
    updates, waits, begin = max(1, given.steps // (given.envs * given.length)), [], time.time()

    for update in range(updates):
        optimiser.param_groups[0]["lr"] = 1e-3 * (1 - 0.9 * update / updates)
        kept = [[] for _ in range(10)]
        for _ in range(given.length):
            seen = tensors(observation, info)
            with torch.no_grad():
                choice, value = agent(*seen)
                action = choice.sample()
            observation, reward, terminated, truncated, info = envs.step(action.numpy())
            done = terminated | truncated
            elapsed = np.where(done, info["final_info"]["dt"] if done.any() else 0, info["dt"])
            row = [*seen, action, choice.log_prob(action), value]
            row += [torch.tensor(x, dtype=torch.float32) for x in (reward, ~done, gamma ** (elapsed / interval))]
            for column, each in zip(kept, row, strict=True):
                column.append(each)
            if done.any():
                waits += info["final_info"]["avg_jct_s"][done].tolist()

        # Generalised advantages; a truncated episode counts as ended here.
        with torch.no_grad():
            following = agent(*tensors(observation, info))[1]
        advantage, running = [], torch.zeros(given.envs)
        for t in reversed(range(given.length)):
            value, reward, live, discount = (column[t] for column in kept[6:])
            running = reward + discount * live * (following + lam * running) - value
            advantage.append(running)
            following = value
        advantage = torch.stack(advantage[::-1]).flatten()
        batch = [torch.stack(column).flatten(0, 1) for column in kept[:7]]
        returns = advantage + batch[6]

        for _ in range(4):
            for part in np.array_split(rng.permutation(len(advantage)), max(1, len(advantage) // 1024)):
                choice, value = agent(*(x[part] for x in batch[:4]))
                ratio = (choice.log_prob(batch[4][part]) - batch[5][part]).exp()
                a = advantage[part]
                a = (a - a.mean()) / (a.std() + 1e-8)
                gain = torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
                loss = -gain + 0.5 * (value - returns[part]).square().mean() - 0.01 * choice.entropy().mean()
                optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimiser.step()
        steps = (update + 1) * given.envs * given.length
        jct = np.mean(waits[-200:]) if waits else float("nan")
        print(f"{steps:9d} steps, {steps / (time.time() - begin):6.0f}/s, average JCT {jct:.0f} s", flush=True)
    torch.save((sizes, agent.state_dict()), "ppo.pt")


if __name__ == "__main__":
    main()
