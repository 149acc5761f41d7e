"""For programs that allot resizes by a restart: they receive SIGTERM, save, and run again at another size.

    stop = allot_elastic.restart.Stop()
    loader = allot_elastic.restart.Loader(dataset, batch=64)
    ...
        for inputs, targets in loader:
            ...                                 # a step, under DistributedDataParallel or the like
            if stop.wanted():
                save(..., loader.state_dict())  # and the program ends

Both use torch.distributed if there is a process group, and torchrun's variables. HuggingFace's Trainer and Lightning have their own
callbacks: allot_elastic.huggingface, allot_elastic.lightning. Imported early, this module saves programs that do not compile the
import of PyTorch's compiler (allot_elastic.compiler).
"""

import multiprocessing.util
import os
import signal
import threading

import torch
import torch.distributed
from torch.utils.data import DataLoader

from allot_elastic.compiler import leave_for_later
from allot_elastic.sampler import ElasticSampler

leave_for_later()


def world():
    """(rank, number of processes) by torchrun's variables."""
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def share_of_batch(batch):
    """Samples of a step on each process, for frameworks that split them equally."""
    _, processes = world()
    if batch % processes:
        raise ValueError(f"a batch of {batch} must be divisible by the {processes} processes: restrict the sizes of the job, "
                         "or use allot_elastic.restart.Loader")
    return batch // processes


def _obey_parent_alone(_):
    """Runs in a child process of multiprocessing: SIGTERM ends it only if its parent sends it, as Process.terminate() does."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

    def wait():
        while signal.sigwaitinfo({signal.SIGTERM}).si_pid != os.getppid():
            pass
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os.kill(os.getpid(), signal.SIGTERM)
    threading.Thread(target=wait, daemon=True).start()


class Stop:
    """The request to end the job, which reaches processes at different times."""

    def __init__(self):
        self._requested, self._group = False, None
        self.listen()
        # A cluster signals all processes. If one that loads data ended, the program would fail.
        multiprocessing.util.register_after_fork(self, _obey_parent_alone)

    def listen(self):
        """Handles SIGTERM, also if a framework has replaced the handler."""
        signal.signal(signal.SIGTERM, self._request)

    def wanted(self):
        """Call it after a step in all processes: all get the same answer, so that they end after the same step."""
        if not torch.distributed.is_available() or not torch.distributed.is_initialized():
            return self._requested
        if self._group is None:  # separate, because the program's group may wait for a GPU
            self._group = torch.distributed.new_group(backend="gloo")
        requested = torch.tensor([float(self._requested)])
        torch.distributed.all_reduce(requested, torch.distributed.ReduceOp.MAX, group=self._group)
        return bool(requested)

    def _request(self, *_):
        self._requested = True


class Loader(DataLoader):
    """A DataLoader with `batch` samples per step for any number of processes, which continues from its state_dict even with another
    number. Each sample comes once an epoch; the order depends on `seed` and the epoch.

    All steps have the same number of samples, but if the last one would be too short, the last two are equal, so that no process
    is without samples. `options` are DataLoader's.
    """

    def __init__(self, dataset, batch, shuffle=True, seed=0, **options):
        rank, processes = world()
        if batch < 2 * processes or len(dataset) < processes:
            raise ValueError(f"a step must have samples for each process: a batch of {batch} and a data set of {len(dataset)} are "
                             f"too few for {processes}")
        steps = _Steps(ElasticSampler(len(dataset), shuffle, seed), batch, rank, processes)
        super().__init__(dataset, batch_sampler=steps, **options)

    def __iter__(self):
        """The rest of the present epoch; then the next one."""
        steps = self.batch_sampler
        for loaded in super().__iter__():
            steps.taken += steps.size(steps.taken)  # a program saves after the step
            yield loaded

    @property
    def epoch(self):
        """Passes over the data set that are done."""
        return self.batch_sampler.sampler.epoch_of(self.batch_sampler.taken)

    def state_dict(self):
        return {"taken": self.batch_sampler.taken}

    def load_state_dict(self, state):
        self.batch_sampler.taken = int(state["taken"])


class _Steps:
    """The indices of this process, step by step; a batch sampler."""

    def __init__(self, sampler, batch, rank, processes):
        self.sampler, self.batch, self.rank, self.processes = sampler, batch, rank, processes
        self.taken = 0  #: samples that are done, over all epochs

    def size(self, taken):
        """The size of the step after so many samples."""
        left = self.sampler.left(taken)
        return min(self.batch, left) if not self.batch < left < 2 * self.batch else (left + 1) // 2

    def __len__(self):
        """The number of steps of a whole epoch."""
        return -(-self.sampler.length // self.batch)

    def __iter__(self):
        taken, end = self.taken, self.taken + self.sampler.left(self.taken)
        while taken < end:
            size = self.size(taken)
            yield self.sampler.indices(taken, size, self.rank, self.processes)
            taken += size
