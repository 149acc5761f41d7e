#!/usr/bin/env python3
"""A small language model that splits its training as ALLOT_PLAN says: dp x tp x pp processes, on CPUs over gloo.

    ALLOT_PLAN="dp=2 tp=2 pp=2 vp=1 cp=1 ep=1 zero=0 micro_batch=2 recompute=none global_batch=16 layers=4" \\
        torchrun --nproc_per_node=8 train.py --checkpoint FOLDER

It needs PyTorch 2.6 or later, whose libraries do the work: DTensor splits matrices, torch.distributed.pipelining runs the stages, and
torch.distributed.checkpoint reads the parts that a process needs from a checkpoint of any other plan. As every job of
`resize = "restart"` it saves at SIGTERM and begins with what it finds. Each start and save prints a checksum of the whole model and
optimizer: it is the same before and after a change of the plan.
"""

import argparse
import os
import zlib
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from allot_elastic.restart import Stop

HIDDEN, HEADS, VOCABULARY, SEQUENCE = 128, 8, 64, 32  # as catalogue.csv says
# Optimizer states by the names of parameters, so that each stage of a pipeline finds its own.
FLAT = StateDictOptions(flatten_optimizer_state_dict=True)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(HIDDEN) for _ in range(2))
        self.query, self.key, self.value, self.out = (nn.Linear(HIDDEN, HIDDEN, bias=False) for _ in range(4))
        self.up, self.down = nn.Linear(HIDDEN, 4 * HIDDEN, bias=False), nn.Linear(4 * HIDDEN, HIDDEN, bias=False)

    def forward(self, x):
        normed = self.norms[0](x)
        query, key, value = (project(normed).unflatten(-1, (-1, HIDDEN // HEADS)).transpose(1, 2)
                             for project in (self.query, self.key, self.value))  # the heads of this process
        attended = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.norms[1](x))))


class Stage(nn.Module):
    """Consecutive layers; those of all stages together have the same names and first weights in every plan."""

    def __init__(self, layers, stage, stages):
        super().__init__()
        each = -(-layers // stages)
        mine = range(stage * each, min(layers, (stage + 1) * each))
        self.embedding = nn.Embedding(VOCABULARY, HIDDEN) if stage == 0 else None
        self.layers = nn.ModuleDict({str(layer): Block() for layer in mine})
        last = stage == stages - 1
        self.head = nn.Sequential(nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, VOCABULARY, bias=False)) if last else None
        for name, weights in self.named_parameters():
            if weights.dim() > 1:
                draws = torch.Generator().manual_seed(zlib.crc32(name.encode()))
                weights.data.normal_(std=HIDDEN ** -0.5, generator=draws)

    def forward(self, x):
        if self.embedding is not None:
            x = self.embedding(x)
        for layer in self.layers.values():
            x = layer(x)
        return x if self.head is None else self.head(x)

    def split(self, mesh):
        columns, rows = ColwiseParallel(), RowwiseParallel()
        for layer in self.layers.values():
            parallelize_module(layer, mesh, {"query": columns, "key": columns, "value": columns, "out": rows,
                                             "up": columns, "down": rows})


def sequences(step, batch):
    """The same on all processes: each counts on by a stride of its own, which the model has to find."""
    draws = torch.Generator().manual_seed(step)
    first, stride = (torch.randint(VOCABULARY, (batch, 1), generator=draws) for _ in range(2))
    return (first + stride * torch.arange(SEQUENCE + 1)) % VOCABULARY


def loss_of(output, target):
    return nn.functional.cross_entropy(output.flatten(0, 1), target.flatten())


class Trainer:
    def __init__(self, plan, checkpoint):
        self.plan, self.checkpoint, self.step = plan, checkpoint, 0
        shape = [int(plan[part]) for part in ("dp", "pp", "tp")]
        if torch.Size(shape).numel() != dist.get_world_size():
            raise ValueError(f"a plan must have as many GPUs as the job: {plan} has {shape}, the job {dist.get_world_size()}")
        self.mesh = init_device_mesh("cpu", shape, mesh_dim_names=("dp", "pp", "tp"))
        self.replica, stage, _ = self.mesh.get_coordinate()
        replicas, stages, _ = shape
        self.batch = int(plan["global_batch"]) // replicas  # of this replica
        self.model = Stage(int(plan["layers"]), stage, stages)
        self.model.split(self.mesh["tp"])
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-3, foreach=False)
        self.first, self.last = stage == 0, stage == stages - 1
        piece = PipelineStage(self.model, stage, stages, torch.device("cpu"), group=self.mesh.get_group("pp"))
        self.schedule = Schedule1F1B(piece, self.batch // int(plan["micro_batch"]), loss_fn=loss_of)

    def train_step(self):
        rows = sequences(self.step, int(self.plan["global_batch"]))[self.replica * self.batch:][:self.batch]
        losses = []
        self.optimizer.zero_grad()
        self.schedule.step(*[rows[:, :-1]] * self.first, target=rows[:, 1:] if self.last else None, losses=losses)
        replicas = self.mesh.get_group("dp")
        for weights in self.model.parameters():
            gradient = weights.grad.to_local() if isinstance(weights.grad, DTensor) else weights.grad
            dist.all_reduce(gradient, group=replicas)
            gradient /= self.mesh.size(0)
        self.optimizer.step()
        self.step += 1
        if not self.last:
            return
        loss = torch.stack(losses).mean().detach()
        dist.all_reduce(loss, group=replicas)
        if self.replica == 0 and self.mesh.get_local_rank("tp") == 0:
            print(f"step={self.step} loss={loss.item() / self.mesh.size(0):.6f}", flush=True)

    def state(self):
        model, optimizer = get_state_dict(self.model, self.optimizer, options=FLAT)
        return {"model": model, "optimizer": optimizer, "step": torch.tensor(self.step)}

    def load(self):
        """The latest checkpoint that was completed: its metadata is written last."""
        found = sorted(self.checkpoint.glob("step-*/.metadata"))
        if found:
            state = self.state()
            dcp.load(state, checkpoint_id=found[-1].parent)
            set_state_dict(self.model, self.optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"],
                           options=FLAT)
            self.step = int(state["step"])
        self.say("begins")

    def save(self):
        dcp.save(self.state(), checkpoint_id=self.checkpoint / f"step-{self.step:06}")
        self.say("saved")

    def say(self, what):
        """With a checksum of the whole state, whatever the plan."""
        state = self.state()
        mine = {}
        for name, value in sorted((state["model"] | state["optimizer"]).items()):
            if isinstance(value, torch.Tensor):
                whole = value.full_tensor() if isinstance(value, DTensor) else value
                mine[name] = zlib.crc32(whole.detach().numpy().tobytes())
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, mine)
        everything = {name: checksum for part in parts for name, checksum in part.items()}
        if dist.get_rank() == 0:
            split = " ".join(f"{key}={self.plan[key]}" for key in ("dp", "tp", "pp"))
            print(f"{what} at step {self.step} with {split}: state {zlib.crc32(repr(sorted(everything.items())).encode()):08x}",
                  flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint"))
    options = parser.parse_args()
    plan = dict(part.split("=") for part in os.environ["ALLOT_PLAN"].split())
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    stop = Stop()
    trainer = Trainer(plan, options.checkpoint)
    trainer.load()
    stopped = False
    while trainer.step < options.steps and not stopped:
        trainer.train_step()
        stopped = stop.wanted()
    trainer.save()
    if not stopped and dist.get_rank() == 0:
        print(f"finished at step {trainer.step}", flush=True)
    dist.destroy_process_group()
    return 1 if stopped else 0  # a job that ends with 0 is done


if __name__ == "__main__":
    raise SystemExit(main())
