"""Learning from a log alone: behaviour cloning, and advantage-weighted regression (AWR), in plain torch.

    python offline_bc.py --episodes 8 --updates 4000

Built-in policies, good and bad ones, write a log: a Minari data set, read here with h5py. Cloning does what the log does. AWR
(Peng et al., 2019, section 3) clones each decision with weight exp(advantage / beta): what went better than is usual
in that state counts more. Both are then compared with the logged policies on later weeks.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn

import allot
from allot.data import read_logs

WORLD = {"workload": "embedded", "cluster": "4x8", "load": 0.8, "interval": 300}
SEEN = {"from": "2017-10-30", "to": "2017-11-13"}
HELD_OUT = {"from": "2017-11-13", "to": "2017-11-27"}
LOGGED = ["index", "las", "fifo"]
HALF_LIFE = 6 * 3600  # s, of returns: steps are uneven, so they are discounted by simulated time
BETA = 0.5  # of standard deviations of the advantage


def returns_to_go(episode):
    """Minus ln of the job-hours to come: days with long queues have a hundred times those of others."""
    total, returns = 0.0, np.zeros(len(episode), np.float32)
    for step in reversed(range(len(episode))):
        total = -episode.rewards[step] / 3600 + 0.5 ** (episode.dt[step] / HALF_LIFE) * total
        returns[step] = -np.log1p(total)
    return returns


def read(folder):
    """Decisions: context, return. Rows, one for each job at each decision: its features, legal choices, choice, decision."""
    columns, decisions = [[] for _ in range(6)], 0
    for log in read_logs(sorted(Path(folder, "cluster").iterdir())):
        for episode in log:
            seen = {name: values[:-1] for name, values in episode.observations.items()}  # the last has no action
            step, slot = seen["job_mask"].nonzero()
            nothing = np.ones((len(step), 1), bool)  # choice 0 is always legal
            legal = np.concatenate([nothing, episode.legal[step, slot]], 1)
            found = (
                seen["context"], returns_to_go(episode),
                seen["jobs"][step, slot], legal, episode.actions[step, slot], step + decisions,
            )
            for column, values in zip(columns, found, strict=True):
                column.append(torch.from_numpy(values))
            decisions += len(episode)
    return [torch.cat(column) for column in columns]


def network(examples, outputs, hidden=64):
    """A perceptron over inputs that it standardises."""
    inputs = examples.shape[1]
    scale = nn.Linear(inputs, inputs).requires_grad_(False)
    deviation = examples.std(0) + 1e-3
    scale.weight.copy_(torch.diag(1 / deviation))
    scale.bias.copy_(-examples.mean(0) / deviation)
    return nn.Sequential(
        scale, nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, outputs)
    )


def fit(model, count, updates, loss_of, batch=1024):
    """Adam with a falling learning rate; loss_of(rows) -> a loss of each. Returns the mean loss of the last 100 updates."""
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1, 0.05, updates)
    losses = []
    for _ in range(updates):
        loss = loss_of(torch.randint(count, (batch,))).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    return np.mean(losses[-100:])


def advantages(context, returns, updates):
    """Return minus what is usual in that state, by a fitted value function; in standard deviations."""
    value = network(context, 1)
    fit(value, len(context), updates, lambda rows: (value(context[rows]).squeeze(1) - returns[rows]).square())
    with torch.no_grad():
        advantage = returns - value(context).squeeze(1)
    return advantage / (advantage.std() + 1e-6)


def clone(data, weights, updates):
    """A network that gives the logits of a job's choices; each decision of the log counts by its weight."""
    context, _, jobs, legal, choices, decision = data
    model = network(torch.cat([jobs, context[decision]], 1), legal.shape[1])
    weight = weights[decision] / torch.bincount(decision)[decision].sqrt()  # between a row a job and a decision a decision
    weight /= weight.mean()

    def loss_of(rows):
        seen = torch.cat([jobs[rows], context[decision[rows]]], 1)
        logits = model(seen).masked_fill(~legal[rows], -1e9)
        return weight[rows] * nn.functional.cross_entropy(logits, choices[rows], reduction="none")

    print(f"  cross-entropy of a job's choice: {fit(model, len(jobs), updates, loss_of):.3f}")
    return model


class Cloned(allot.TrainedPolicy):
    """Draws each job's choice, as the log would choose. The likeliest choice may let a job wait for ever."""

    def __init__(self, model, **options):
        super().__init__(self.draw, **options)
        self.model = model

    def begin(self, seed):
        super().begin(seed)
        generator = torch.Generator().manual_seed(seed % 2**63)
        self.predict = lambda seen, mask: self.draw(seen, mask, generator)

    @torch.no_grad()
    def draw(self, seen, mask, generator=None):
        there = int(seen["job_mask"].sum())  # jobs are in the first slots; the network takes any number
        jobs, context = torch.from_numpy(seen["jobs"][:there]), torch.from_numpy(seen["context"])
        legal = torch.from_numpy(mask.reshape(len(seen["jobs"]), -1)[:there])
        logits = self.model(torch.cat([jobs, context.expand(there, -1)], 1)).masked_fill(~legal, -torch.inf)
        choices = np.zeros(len(seen["jobs"]), np.int64)
        choices[:there] = torch.multinomial(logits.softmax(1), 1, generator=generator).squeeze(1)
        return choices


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=8, help="logged workloads, run by each policy")
    parser.add_argument("--held-out", type=int, default=8, help="workloads that they are compared on")
    parser.add_argument("--updates", type=int, default=4000, help="of each network")
    parser.add_argument("--span", default="1d", help="length of a workload")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    world = {**WORLD, "span": given.span}

    with tempfile.TemporaryDirectory() as folder:
        allot.compare(LOGGED, log=folder, workloads=given.episodes, **SEEN, **world)
        data = read(folder)
    context, returns, jobs, legal, *_ = data
    print(f"{len(context)} decisions of {', '.join(LOGGED)}, about {len(jobs)} jobs")

    weights = {
        "cloned": torch.ones(len(context)),
        "awr": (advantages(context, returns, given.updates) / BETA).exp().clamp(max=20),
    }
    policies = {}
    for name, weight in weights.items():
        print(name)
        model = clone(data, weight, given.updates)
        window = {"action": "choice", "max_configurations": legal.shape[1] - 1}
        policies[name] = Cloned(model, name=name, trained_on=[{"workload": WORLD["workload"], **SEEN}], **window)
    held_out = {**HELD_OUT, **world, "workloads": given.held_out}
    print(allot.evaluate(policies["awr"], [policies["cloned"], *LOGGED], **held_out))


if __name__ == "__main__":
    main()
