#!/usr/bin/env python3
"""HuggingFace's Trainer in a job that allot resizes by a restart: a callback and the last checkpoint (docs/torch.md).

    sbatch --gres=gpu:2 --comment 'allot min=1 max=8 gpus=2 resize=restart' train.sh trainer.py
"""

import argparse

from allot_elastic.huggingface import SaveAndEnd, last_checkpoint
from allot_elastic.restart import share_of_batch
from made import Made, network, trained_on
from torch import nn
from transformers import Trainer, TrainingArguments


class Model(nn.Module):
    """The network as the Trainer wants it: it gives a loss."""

    def __init__(self):
        super().__init__()
        self.network = network()

    def forward(self, number, inputs, targets):
        trained_on(number)
        return {"loss": nn.functional.mse_loss(self.network(inputs), targets)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=64, help="samples a step, of all processes together")
    parser.add_argument("--out", default="trainer")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()

    arguments = TrainingArguments(
        output_dir=options.out, num_train_epochs=options.epochs, per_device_train_batch_size=share_of_batch(options.batch),
        save_strategy="epoch", save_total_limit=2, remove_unused_columns=False, report_to=[], use_cpu=options.cpu,
        disable_tqdm=True, logging_steps=50)
    trainer = Trainer(Model(), arguments, train_dataset=Made(options.samples), callbacks=[SaveAndEnd()])
    trainer.train(resume_from_checkpoint=last_checkpoint(options.out))
    if trainer.is_world_process_zero():
        print(f"finished step={trainer.state.global_step}", flush=True)


if __name__ == "__main__":
    main()
