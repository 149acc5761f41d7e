#!/usr/bin/env python3
"""A DeepSpeed engine in a job that allot resizes by a restart (docs/torch.md).

    sbatch --gres=gpu:2 --comment 'allot min=1 max=8 gpus=2 resize=restart' train.sh deepspeed_engine.py
"""

import argparse

import deepspeed
import torch
from allot_elastic.restart import Loader, Stop, share_of_batch
from made import Made, network, trained_on
from torch import nn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=64, help="samples a step, of all processes together")
    parser.add_argument("--out", default="deepspeed")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()

    stop = Stop()
    deepspeed.init_distributed("gloo" if options.cpu else "nccl")
    model, loader = network(), Loader(Made(options.samples), options.batch)
    config = {"train_batch_size": options.batch, "train_micro_batch_size_per_gpu": share_of_batch(options.batch)}
    engine, *_ = deepspeed.initialize(model=model, config=config,
                                      optimizer=torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9))
    _, state = engine.load_checkpoint(options.out)
    if state:
        loader.load_state_dict(state["loader"])

    while loader.epoch < options.epochs:
        for batch in loader:
            trained_on(batch["number"])
            inputs, targets = batch["inputs"].to(engine.device), batch["targets"].to(engine.device)
            engine.backward(nn.functional.mse_loss(engine(inputs), targets))
            engine.step()
            if stop.wanted():
                engine.save_checkpoint(options.out, client_state={"loader": loader.state_dict()})
                return
    if engine.global_rank == 0:
        print(f"finished epoch={loader.epoch}", flush=True)


if __name__ == "__main__":
    main()
