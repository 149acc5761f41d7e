"""What elastic PyTorch training does with each sample of a data set, written into the model itself.

Parameter `seen` grows by one for each sample of each step that was applied: lost, doubled or resumed wrongly, it shows. With
--fork it imports PyTorch once and becomes a worker for each line of its standard input (forking.py).
"""

import argparse
import hashlib
import json
import time

import allot_elastic.torch
import torch
from torch import nn

from forking import in_each_fork


class Counted(nn.Module):
    """A small network with dropout, beside the count."""

    def __init__(self, samples):
        super().__init__()
        self.seen = nn.Parameter(torch.zeros(samples))
        self.network = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
        self.frozen, self.unused = nn.Parameter(torch.ones(1), requires_grad=False), nn.Parameter(torch.ones(1))


class Numbered(torch.utils.data.Dataset):
    def __init__(self, samples):
        self.inputs = torch.randn(samples, 4, generator=torch.Generator().manual_seed(7))

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, index):
        return index, self.inputs[index]


def train(options):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    data, model = Numbered(options.samples), Counted(options.samples)
    optimizer = torch.optim.SGD([{"params": [model.seen], "lr": 1.0},
                                 {"params": model.network.parameters(), "lr": 0.1, "momentum": 0.9},
                                 {"params": [model.frozen, model.unused], "lr": 0.1, "weight_decay": 0.5}])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, [lambda epoch: 1.0, lambda epoch: 0.9**epoch, lambda epoch: 1.0])
    training = allot_elastic.torch.Training(model, optimizer, options.batch, most=options.most, rule="constant",
                                            most_local=options.most_local, carry=[scheduler])
    for epoch in training.epochs(data, options.epochs, num_workers=options.loaders):
        for indices, inputs in training.batches():
            time.sleep(options.pace_ms / 1000)
            training.backward(model.network(inputs).square().mean() - model.seen[indices].mean() * training.step_samples)
        scheduler.step()
        if training.worker.rank == 0:
            seen, weights = model.seen.detach(), torch.cat([one.detach().flatten() for one in model.network.parameters()])
            print(json.dumps({"epoch": epoch, "least": round(float(seen.min()), 3), "most": round(float(seen.max()), 3),
                              "without_gradient": [model.frozen.item(), model.unused.item()], "steps": training.steps,
                              "rate": optimizer.param_groups[1]["lr"],
                              "weights": hashlib.sha256(weights.numpy().tobytes()).hexdigest()}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=101)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--most", type=int)
    parser.add_argument("--most-local", type=int)
    parser.add_argument("--loaders", type=int, default=0)
    parser.add_argument("--pace-ms", type=float, default=0)
    parser.add_argument("--fork", action="store_true")
    given = parser.parse_args()
    if given.fork:
        in_each_fork()
    train(given)
