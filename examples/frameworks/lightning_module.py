#!/usr/bin/env python3
"""PyTorch Lightning in a job that allot resizes by a restart: a callback, a loader and the checkpoint (docs/torch.md).

    sbatch --gres=gpu:2 --comment 'allot min=1 max=8 gpus=2 resize=restart' train.sh lightning_module.py
"""

import argparse
import os

import torch
from allot_elastic.lightning import SaveAndEnd
from allot_elastic.restart import Loader
from lightning.pytorch import LightningModule, Trainer
from made import Made, network, trained_on
from torch import nn


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.network = network()

    def training_step(self, batch, _):
        trained_on(batch["number"])
        return nn.functional.mse_loss(self.network(batch["inputs"]), batch["targets"])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=64, help="samples a step, of all processes together")
    parser.add_argument("--out", default="lightning.ckpt")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()

    keeper = SaveAndEnd(options.out)
    trainer = Trainer(max_epochs=options.epochs, callbacks=[keeper], use_distributed_sampler=False,
                      accelerator="cpu" if options.cpu else "auto", devices=int(os.environ.get("LOCAL_WORLD_SIZE", 1)),
                      num_nodes=int(os.environ.get("GROUP_WORLD_SIZE", 1)), logger=False, enable_checkpointing=False,
                      enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Model(), Loader(Made(options.samples), options.batch), ckpt_path=keeper.found())
    if trainer.is_global_zero:
        print(f"finished step={trainer.global_step}", flush=True)


if __name__ == "__main__":
    main()
