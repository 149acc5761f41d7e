"""Loads the samples of a pass by PyTorch's DataLoader, with random numbers that are the same after a resume."""

import functools
import hashlib
import random
import signal

import numpy
import torch
from torch.utils.data import DataLoader


def _number(seed, *words):
    text = " ".join(map(str, (seed, *words)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def seed_pass(seed, step, part):
    """Seeds PyTorch, Python and numpy by the part of the step that is computed, so that random numbers depend neither on the
    worker nor on its past."""
    number = _number(seed, step, part)
    torch.manual_seed(number)
    random.seed(number)
    numpy.random.seed(number % 2**32)


def _begin_loader(theirs, number):
    """Runs in a process that loads data. It ignores SIGTERM, which a cluster sends to it too when it stops a job, because
    training continues to the end of the step."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if theirs:
        theirs(number)


def batches_of(dataset, shares, seed, step, options):
    """An iterator over the samples of a worker's passes; `options` are DataLoader's."""
    ours = ("batch_size", "shuffle", "sampler", "batch_sampler", "drop_last", "generator")
    if wrong := [name for name in ours if name in options]:
        raise ValueError(f"the workers determine which samples are loaded: {', '.join(wrong)} must not be given")
    options = dict(options)
    begin = functools.partial(_begin_loader, options.pop("worker_init_fn", None))
    draws = torch.Generator().manual_seed(_number(seed, step, "loader", shares.worker))
    return iter(DataLoader(dataset, batch_sampler=shares, generator=draws, worker_init_fn=begin, **options))
