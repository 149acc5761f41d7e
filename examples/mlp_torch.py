#!/usr/bin/env python3
"""A perceptron in PyTorch whose batch follows its GPUs and the noise of its gradient."""

import argparse
import time

import allot_elastic.torch
import torch
from torch import nn

INPUTS, HIDDEN = 32, 64


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000, help="of --batch samples")
    parser.add_argument("--batch", type=int, default=64, help="samples a step that the learning rate is written for")
    parser.add_argument("--most-batch", type=int, default=4096)
    parser.add_argument("--most-local", type=int, default=256, help="samples of one pass on one worker, at most")
    parser.add_argument("--optimizer", choices=("sgd", "adam"), default="sgd")
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--pace-ms", type=float, default=0, help="a pass takes at least so many milliseconds")
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(INPUTS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
    teacher = torch.randn(INPUTS, 1) / INPUTS**0.5
    if options.optimizer == "adam":
        optimizer, rule = torch.optim.Adam(model.parameters(), lr=options.rate), "square-root"
    else:
        optimizer, rule = torch.optim.SGD(model.parameters(), lr=options.rate, momentum=0.9), "adascale"

    training = allot_elastic.torch.Training(model, optimizer, options.batch, options.most_batch, options.most_local,
                                            work=options.steps * options.batch, rule=rule)
    printed = 0
    for samples in training:
        until = time.monotonic() + options.pace_ms / 1000
        inputs = torch.randn(samples, INPUTS)  # each part of each step has random numbers of its own
        training.backward(((model(inputs) - torch.tanh(inputs @ teacher))**2).mean())
        time.sleep(max(0.0, until - time.monotonic()))
        if training.steps // 10 > printed and training.worker.rank == 0:
            printed = training.steps // 10
            print(f"step={training.steps} loss={training.loss:.5f} world={training.worker.world_size}", flush=True)
    print(f"left step={training.steps}", flush=True)


if __name__ == "__main__":
    main()
