#!/usr/bin/env python3
"""A loop with HuggingFace Accelerate in a job that allot resizes by a restart (docs/torch.md).

    sbatch --gres=gpu:2 --comment 'allot min=1 max=8 gpus=2 resize=restart' train.sh accelerated.py
"""

import argparse
import os
import shutil

import torch
from accelerate import Accelerator
from accelerate.utils import send_to_device
from allot_elastic.restart import Loader, Stop
from made import Made, network, trained_on
from torch import nn


def save(accelerator, out, samples):
    """Whole or not at all, also where the job is killed meanwhile: `out` is a link to the newest folder that was written."""
    folder, link = f"{out}-{samples}", f"{out}.link"
    accelerator.save_state(folder)
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        earlier = os.path.realpath(out) if os.path.islink(out) else None
        if os.path.islink(link):
            os.remove(link)
        os.symlink(os.path.basename(folder), link)
        os.replace(link, out)
        if earlier:
            shutil.rmtree(earlier)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=64, help="samples a step, of all processes together")
    parser.add_argument("--out", default="accelerated")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()

    stop, accelerator = Stop(), Accelerator(cpu=options.cpu)
    model = network()
    loader = Loader(Made(options.samples), options.batch)  # not prepared: it gives each process its own samples
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9))
    accelerator.register_for_checkpointing(loader)
    if os.path.exists(options.out):
        accelerator.load_state(options.out)

    while loader.epoch < options.epochs:
        for batch in loader:
            batch = send_to_device(batch, accelerator.device)
            trained_on(batch["number"])
            optimizer.zero_grad()
            accelerator.backward(nn.functional.mse_loss(model(batch["inputs"]), batch["targets"]))
            optimizer.step()
            if stop.wanted():
                save(accelerator, options.out, loader.state_dict()["taken"])
                return
    accelerator.print(f"finished epoch={loader.epoch}", flush=True)
    accelerator.end_training()  # else a thread of PyTorch may end the process with an error


if __name__ == "__main__":
    main()
