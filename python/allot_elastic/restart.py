"""For programs that allot resizes by a restart: they are told to end (SIGTERM), save, and run again at another size.

    stop = allot_elastic.restart.Stop()
    loader = allot_elastic.restart.Loader(dataset, batch=64)
    ...
        for inputs, targets in loader:
            ...                                 # a step, under DistributedDataParallel or the like
            if stop.wanted():
                save(..., loader.state_dict())  # and the program ends

Both look at torch.distributed where a process group is there, and at torchrun's variables. HuggingFace's Trainer and Lightning have
callbacks of their own: allot_elastic.huggingface, allot_elastic.lightning. Imported early, it spares the program the import of
PyTorch's compiler, if it does not compile (allot_elastic.compiler).
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
    """(rank, number of processes) of this one, as torchrun says."""
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def share_of_batch(batch):
    """Samples of a step on each process, for frameworks that give all of them as many."""
    _, processes = world()
    if batch % processes:
        raise ValueError(f"a batch of {batch} must be divisible by the {processes} processes: let the job have other sizes only, "
                         "or use allot_elastic.restart.Loader")
    return batch // processes


def _obey_parent_alone(_):
    """In a process that multiprocessing has begun: SIGTERM counts from its parent, as of Process.terminate()."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

    def wait():
        while signal.sigwaitinfo({signal.SIGTERM}).si_pid != os.getppid():
            pass
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os.kill(os.getpid(), signal.SIGTERM)
    threading.Thread(target=wait, daemon=True).start()


class Stop:
    """That the job is to end, which processes hear at different times."""

    def __init__(self):
        self._told, self._group = False, None
        self.listen()
        # A cluster tells all processes, and one that loads data would end; the program's own then fails.
        multiprocessing.util.register_after_fork(self, _obey_parent_alone)

    def listen(self):
        """Takes SIGTERM, also from a framework that took it since."""
        signal.signal(signal.SIGTERM, self._tell)

    def wanted(self):
        """After a step, by all processes: the same answer for all, so that they end after the same step."""
        if not torch.distributed.is_available() or not torch.distributed.is_initialized():
            return self._told
        if self._group is None:  # of its own: the processes' own group may have to wait for a GPU
            self._group = torch.distributed.new_group(backend="gloo")
        told = torch.tensor([float(self._told)])
        torch.distributed.all_reduce(told, torch.distributed.ReduceOp.MAX, group=self._group)
        return bool(told)

    def _tell(self, *_):
        self._told = True


class Loader(DataLoader):
    """A DataLoader that takes `batch` samples a step from the data set, whatever the number of processes, and goes on where its
    state_dict says, also among another number. Each sample comes once an epoch; the order follows from `seed` and the epoch.

    A step has as many samples at any size. Where the last one would be short it shares with the one before, so that no process is
    without samples. `options` are DataLoader's.
    """

    def __init__(self, dataset, batch, shuffle=True, seed=0, **options):
        rank, processes = world()
        if batch < 2 * processes or len(dataset) < processes:
            raise ValueError(f"a step must have samples for each process: a batch of {batch} and a data set of {len(dataset)} are "
                             f"too few for {processes}")
        steps = _Steps(ElasticSampler(len(dataset), shuffle, seed), batch, rank, processes)
        super().__init__(dataset, batch_sampler=steps, **options)

    def __iter__(self):
        """What is left of the epoch at hand; the next one after that."""
        steps = self.batch_sampler
        for loaded in super().__iter__():
            steps.taken += steps.size(steps.taken)  # the program is to save when it has done its step
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
        """Of the step after so many samples."""
        left = self.sampler.left(taken)
        return min(self.batch, left) if not self.batch < left < 2 * self.batch else (left + 1) // 2

    def __len__(self):
        """Steps of a whole epoch."""
        return -(-self.sampler.length // self.batch)

    def __iter__(self):
        taken, end = self.taken, self.taken + self.sampler.left(self.taken)
        while taken < end:
            size = self.size(taken)
            yield self.sampler.indices(taken, size, self.rank, self.processes)
            taken += size
