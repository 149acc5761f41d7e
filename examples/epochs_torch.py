#!/usr/bin/env python3
"""A convolutional network over a data set, epoch by epoch, on workers that come and go: torchrun.py with one import.

Each sample is trained on once an epoch. The batch of all workers together stays the same, so the loss does, too.
"""

import argparse

import allot_elastic.torch
import torch
from torch import nn
from torch.utils.data import TensorDataset

SIDE, CLASSES = 12, 4


def pictures(count, seed):
    """Noise with a bright square in one of four corners, which is the class."""
    draws = torch.Generator().manual_seed(seed)
    images, classes = torch.randn(count, 1, SIDE, SIDE, generator=draws), torch.randint(CLASSES, (count,), generator=draws)
    for image, number in zip(images, classes.tolist()):
        top, left = SIDE // 2 * (number // 2), SIDE // 2 * (number % 2)
        image[0, top:top + 3, left:left + 3] += 1
    return TensorDataset(images, classes)


def network():
    return nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.2), nn.Linear(200, CLASSES))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=64, help="samples a step, of all workers together")
    parser.add_argument("--loaders", type=int, default=0, help="processes that load data, of each worker")
    parser.add_argument("--out", default="trained.pt")
    options = parser.parse_args()

    torch.manual_seed(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    train, validation, model = pictures(options.samples, 1), pictures(512, 2), network().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.epochs)
    training = allot_elastic.torch.Training(model, optimizer, options.batch, carry=[scheduler])

    for epoch in training.epochs(train, options.epochs, num_workers=options.loaders):
        model.train()
        for images, classes in training.batches():
            training.backward(nn.functional.cross_entropy(model(images.to(device)), classes.to(device)))
        scheduler.step()
        if training.worker.rank != 0:
            continue
        model.eval()
        with torch.no_grad():
            images, classes = validation.tensors
            right = (model(images.to(device)).argmax(1).cpu() == classes).float().mean().item()
        print(f"epoch={epoch} step={training.steps} loss={training.loss:.4f} right={right:.3f} "
              f"world={training.worker.world_size}", flush=True)
        if epoch + 1 == options.epochs:
            torch.save(model.state_dict(), options.out)


if __name__ == "__main__":
    main()
