"""Made data and a small network for the programs beside this one, and a list of the samples that were trained on."""

import os
import time

import torch
from torch import nn
from torch.utils.data import Dataset

INPUTS = 16


class Made(Dataset):
    """Samples have a number, as texts and pictures have a name, and each is read in $LOADING_MS milliseconds."""

    def __init__(self, count):
        self.inputs = torch.randn(count, INPUTS, generator=torch.Generator().manual_seed(1))
        self.targets = self.inputs.mean(1, keepdim=True).tanh()

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, number):
        time.sleep(float(os.environ.get("LOADING_MS", 0)) / 1000)
        return {"number": number, "inputs": self.inputs[number], "targets": self.targets[number]}


def network():
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(INPUTS, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))


def trained_on(numbers):
    """Writes the samples of a step to the file $TRAINED_ON, if that is set: tests count them."""
    if path := os.environ.get("TRAINED_ON"):
        with open(path, "a") as file:
            file.write(f"{os.environ.get('WORLD_SIZE', 1)}: {' '.join(map(str, numbers.tolist()))}\n")
