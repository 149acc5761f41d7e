"""Assigns the samples of a data set to workers, for steps of any size and any number of workers."""

import torch


def share_of(samples, part, parts):
    """[begin, end) of a part. Sizes differ by at most one; the last parts are empty if there are too few samples."""
    size, more = divmod(samples, parts)
    begin = part * size + min(part, more)
    return begin, begin + size + (part < more)


class ElasticSampler:
    """The order of a data set's samples in all passes. It depends on the seed alone, so that the number of samples done is the
    position of a job, whatever its workers. As with DistributedSampler, pass e is shuffled by seed + e."""

    def __init__(self, length, shuffle=True, seed=0):
        if length < 1:
            raise ValueError(f"a data set must have samples, got {length}")
        self.length, self.shuffle, self.seed = length, shuffle, seed
        self._epoch, self._order = None, None

    def epoch_of(self, taken):
        return taken // self.length

    def left(self, taken):
        """Samples to the end of the pass in which sample number `taken` is."""
        return self.length - taken % self.length

    def indices(self, taken, samples, part, parts):
        """The indices of one part of the `samples` after the first `taken` ones, which must belong to one pass."""
        if samples > self.left(taken):
            raise ValueError(f"a step must end with the pass: {self.left(taken)} samples are left, got {samples}")
        begin, end = share_of(samples, part, parts)
        at = taken % self.length
        return self._order_of(self.epoch_of(taken))[at + begin:at + end].tolist()

    def _order_of(self, epoch):
        if epoch != self._epoch:
            draws = torch.Generator().manual_seed(self.seed + epoch)
            self._order = torch.randperm(self.length, generator=draws) if self.shuffle else torch.arange(self.length)
            self._epoch = epoch
        return self._order


class Shares:
    """The indices of one worker's passes, to the end of the pass over the data: a batch sampler for DataLoader."""

    def __init__(self, sampler, taken, samples, passes, worker, workers):
        """A step has `samples` over all `workers`, each of which computes its part in so many passes."""
        self.sampler, self.taken, self.samples = sampler, taken, samples
        self.passes, self.worker, self.workers = passes, worker, workers

    def sizes(self, taken):
        """The sizes of this worker's passes of the step after `taken` samples, and of the whole step."""
        samples = min(self.samples, self.sampler.left(taken))
        ends = (share_of(samples, self._part(pass_), self._parts) for pass_ in range(self.passes))
        return [end - begin for begin, end in ends], samples

    def __iter__(self):
        taken, end = self.taken, self.taken + self.sampler.left(self.taken)
        while taken < end:
            samples = self.sizes(taken)[1]
            for pass_ in range(self.passes):
                indices = self.sampler.indices(taken, samples, self._part(pass_), self._parts)
                if indices:
                    yield indices
            taken += samples

    @property
    def _parts(self):
        return self.workers * self.passes

    def _part(self, pass_):
        return pass_ * self.workers + self.worker
