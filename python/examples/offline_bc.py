"""Learning from a log alone: behaviour cloning, and advantage-weighted regression (AWR), in plain torch.

    python offline_bc.py --episodes 8 --epochs 20

The log is a Minari data set that allot writes; it is read here with h5py. AWR (Peng et al., 2019) clones each logged
decision with weight exp(advantage / beta), where the advantage is the logged return-to-go minus a fitted value.
Both policies are then compared with the logged ones on other days.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import tempfile

import numpy as np
import torch
from torch import nn

import allot
from allot.data import read_logs

WORLD = {"cluster": "4x8", "load": 1.0, "span": "1d", "interval": 300}
SEEN = {"from": "2017-10-30", "to": "2017-11-13"}
HELD_OUT = {"from": "2017-11-13", "to": "2017-11-27"}
HALF_LIFE = 6 * 3600  # of returns, in simulated time: steps are uneven


class JobNetwork(nn.Module):
    """Logits of each job's choices, and a value, from the job's features and the context."""

    def __init__(self, features, context, choices, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features + context, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.choice = nn.Linear(hidden, choices)
        self.worth = nn.Sequential(nn.Linear(context, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, seen):
        context = seen["context"].unsqueeze(-2).expand(*seen["jobs"].shape[:-1], -1)
        return self.choice(self.body(torch.cat([seen["jobs"], context], -1)))

    def value(self, context):
        return self.worth(context).squeeze(-1)


def returns_to_go(episode):
    """Discounted by simulated time, in job-hours."""
    total, returns = 0.0, np.zeros(len(episode), np.float32)
    for t in reversed(range(len(episode))):
        total = episode.rewards[t] / 3600 + 0.5 ** (episode.dt[t] / HALF_LIFE) * total
        returns[t] = total
    return returns


def read(folders):
    """Decisions with a job, as tensors: jobs, context, mask of jobs, legal choices, choices, returns."""
    columns = [[] for _ in range(6)]
    for log in read_logs(folders):
        for episode in log:
            there = episode.observations["job_mask"][:-1].astype(bool)
            busy = there.any(1)
            legal = np.concatenate([np.ones((*episode.legal.shape[:2], 1), bool), episode.legal], -1)[:-1]
            row = (
                episode.observations["jobs"][:-1], episode.observations["context"][:-1], there, legal,
                episode.actions, returns_to_go(episode),
            )
            for column, values in zip(columns, row, strict=True):
                column.append(torch.from_numpy(np.ascontiguousarray(values[busy])))
    return [torch.cat(column) for column in columns]


def train(data, epochs, beta=None):
    """Clones the log; with `beta` each decision counts exp(advantage / beta)."""
    torch.manual_seed(0)
    jobs, context, there, legal, actions, returns = data
    network = JobNetwork(jobs.shape[-1], context.shape[-1], legal.shape[-1])
    optimiser = torch.optim.Adam(network.parameters(), lr=2e-3)
    scale = returns.std() + 1e-6
    for epoch in range(epochs):
        losses = []
        for part in torch.randperm(len(jobs)).split(256):
            value = network.value(context[part])
            weight = torch.ones(len(part))
            if beta is not None:
                weight = ((returns[part] / scale - value.detach()) / beta).exp().clamp(max=20)
            logits = network({"jobs": jobs[part], "context": context[part]}).masked_fill(~legal[part], -1e9)
            each = nn.functional.cross_entropy(logits.flatten(0, 1), actions[part].flatten(), reduction="none")
            cloned = (each.view_as(actions[part]) * there[part]).sum(1) / there[part].sum(1)
            loss = (weight * cloned).mean() + (value - returns[part] / scale).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(cloned.mean().item())
        if epoch in (0, epochs - 1):
            print(f"  epoch {epoch + 1}: cross-entropy {np.mean(losses):.3f} a job")
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=8, help="logged workloads of each policy")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--span", default=WORLD["span"], help="length of a workload")
    given = parser.parse_args()
    torch.set_num_threads(1)
    world = {**WORLD, "span": given.span}
    logged = ["index", "las"]

    with tempfile.TemporaryDirectory() as folder:
        allot.compare(logged, log=folder, workloads=given.episodes, **SEEN, **world)
        data = read([os.path.join(folder, "cluster", name) for name in sorted(os.listdir(os.path.join(folder, "cluster")))])
    print(f"{len(data[0])} decisions of {', '.join(logged)}")

    window = {"action": "choice", "max_jobs": data[0].shape[1], "max_configurations": data[3].shape[2] - 1}
    trained_on = [{"workload": "embedded", **SEEN}]
    policies = []
    for name, beta in (("cloned", None), ("awr", 1.0)):
        print(name)
        network = train(data, given.epochs, beta)
        policies.append(allot.TorchPolicy(network, name=name, trained_on=trained_on, **window))
    result = allot.evaluate(policies[0], [policies[1], *logged, "fifo"], workloads=2, **HELD_OUT, **world)
    print(result)


if __name__ == "__main__":
    main()
