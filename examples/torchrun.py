#!/usr/bin/env python3
"""An ordinary distributed PyTorch program that knows nothing of allot: a perceptron under DistributedDataParallel.

    srun ... torchrun --nnodes=$SLURM_NNODES --nproc_per_node=$SLURM_GPUS_ON_NODE ... torchrun.py --checkpoint model.pt

The whole line, for all nodes of a job, is in docs/torch.md.

All that a job of `resize=restart` needs: it saves its checkpoint at SIGTERM, and starts from the one that it finds, with
any number of processes.
"""

import argparse
import os
import signal
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

INPUTS, HIDDEN = 64, 128


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=64, help="samples a step, of all processes together")
    parser.add_argument("--pace-ms", type=float, default=0, help="a step takes at least so many milliseconds")
    parser.add_argument("--checkpoint", default="model.pt")
    options = parser.parse_args()

    told_to_end = torch.zeros(1)
    signal.signal(signal.SIGTERM, lambda *_: told_to_end.fill_(1))
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    network = DistributedDataParallel(nn.Sequential(nn.Linear(INPUTS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1)))
    optimiser = torch.optim.SGD(network.parameters(), lr=0.02, momentum=0.9)
    teacher = torch.randn(INPUTS, 1) / 8
    step = 0
    if os.path.exists(options.checkpoint):
        saved = torch.load(options.checkpoint)
        network.load_state_dict(saved["network"])
        optimiser.load_state_dict(saved["optimiser"])
        step = saved["step"]
    if rank == 0:
        print(f"world={world} step={step}", flush=True)

    def save():
        if rank == 0:
            torch.save({"network": network.state_dict(), "optimiser": optimiser.state_dict(), "step": step},
                       options.checkpoint + ".part")
            os.replace(options.checkpoint + ".part", options.checkpoint)

    while step < options.steps:
        until = time.monotonic() + options.pace_ms / 1000
        draws = torch.Generator().manual_seed(step)  # the same batch on all; each takes its rows
        batch = torch.randn(options.batch, INPUTS, generator=draws)[rank::world]
        loss = ((network(batch) - torch.tanh(batch @ teacher)) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        step += 1
        if rank == 0 and step % 20 == 0:
            print(f"step={step} loss={loss.item():.5f}", flush=True)
        over = told_to_end.clone()
        dist.all_reduce(over)  # so that all end after the same step
        if over.item() > 0:
            save()
            return
        time.sleep(max(0.0, until - time.monotonic()))
    save()
    if rank == 0:
        print(f"finished step={step}", flush=True)


if __name__ == "__main__":
    main()
    dist.destroy_process_group()  # else its threads may still run when Python ends, which aborts now and then
