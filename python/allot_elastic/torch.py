"""Elastic PyTorch training: workers come and go while it trains.

    import allot_elastic.torch

    training = allot_elastic.torch.Training(model, optimizer, batch=64, carry=[scheduler])
    for epoch in training.epochs(dataset, 10, num_workers=2):
        for inputs, targets in training.batches():
            training.backward(loss_of(model(inputs), targets))
        scheduler.step()

Each sample of the data set is trained on once an epoch, even if workers join, leave or die. A program that draws its samples
itself, and lets its batch follow its GPUs, gives limits:

    training = allot_elastic.torch.Training(model, optimizer, batch=64, most=4096, most_local=256, work=1e6)
    for samples in training:                    # for a pass on this worker
        inputs, targets = draw(samples)
        training.backward(loss_of(model(inputs), targets))

The optimizer's learning rates are for `batch` samples; each step multiplies them by a factor that depends on the batch
(`rule`: adascale, square-root, linear or constant). Gradients are averaged once a step, over workers and passes. A new
worker gets the state from rank 0, a restarted job from its checkpoint. The program of a worker that must leave ends within
the loop (SystemExit).
"""

import multiprocessing
import os

from allot_elastic.beside import Beside
from allot_elastic.compiler import leave_for_later
from allot_elastic.importing import without_collecting
from allot_elastic.leaving import leave

# Started before PyTorch is imported, which takes seconds; not again in processes that load data.
_of_this_job = "ALLOT_WORKER_ID" in os.environ and multiprocessing.parent_process() is None
_started = [Beside()] if _of_this_job else []

with without_collecting():
    import torch

import allot_elastic  # noqa: E402
from allot_elastic.loading import batches_of, seed_pass  # noqa: E402
from allot_elastic.sampler import ElasticSampler, Shares  # noqa: E402
from allot_elastic.state import TrainingState  # noqa: E402

leave_for_later()

# Marks, behind the gradient, each parameter that has one. It is too small to count in the gradient's norm.
_HAS_ONE = 1e-20


class Training:
    """The steps of a job as passes that the program computes."""

    def __init__(self, model, optimizer, batch, most=None, most_local=None, work=None, least_local=1, rule="adascale",
                 carry=(), after_step=None, clip_norm=None, seed=0, **worker):
        """`batch`: samples of all workers together for which the learning rates are written. `most`: the largest batch
        (default: `batch`). `most_local`: samples of a pass that fit on one worker. `least_local` and `rule` are those of
        Worker.adapt, further keywords those of Worker. `work`: the end of training, in samples of `batch`; not for epochs().

        `carry`: further objects with state_dict() and load_state_dict() that belong to the state: schedulers, averages of
        weights. `after_step()` is called after each step of the optimizer, e.g. a scheduler's step. `clip_norm` limits the norm
        of the averaged gradient. `seed` determines the order of samples and random numbers during training."""
        self.model, self.optimizer, self.work, self.seed = model, optimizer, work, seed
        self.parameters = [one for group in optimizer.param_groups for one in group["params"]]
        self.steps, self.loss = 0, float("nan")  #: finished steps, and the members' mean loss in the last one
        self.step_samples = 0  #: samples of all workers in the present step
        self._after_step, self._clip_norm = after_step, clip_norm
        self._most = most or batch
        self._adapt = {"initial": batch, "most": self._most, "most_local": most_local or self._most,
                       "least_local": least_local, "rule": rule if self._most > batch else "constant"}
        self._options = worker
        self._pass_loss, self._stop = None, False
        self._sampler = self._dataset = self._loader_options = None
        self._beside, self._regroup, self._reported = None, True, True
        self._joins, self._put_again = 0, False
        self._state = TrainingState(model, optimizer, carry)

    @property
    def worker(self):
        """rank, world_size, batch and work of this worker, once training has begun."""
        return self._beside.now

    @property
    def epoch(self):
        """Passes over the data set that are done."""
        return self._sampler.epoch_of(self._taken)

    def backward(self, loss):
        """Computes the gradient; call it once a pass."""
        self.model.zero_grad(set_to_none=True)
        loss.backward()
        self._pass_loss = float(loss.detach())

    def stop(self):
        """Announces that training is done: all workers end after the next step."""
        self._beside.call("say_done")

    @property
    def over(self):
        return self._stop or self.worker.work >= self.work

    def __iter__(self):
        if self.work is None:
            raise ValueError("the end of training must be given: work=SAMPLES")
        self._begin(self.work)
        while True:
            self._stay()
            if self.over:
                self._finish()
                return
            batch = self.worker.batch
            yield from self._step([batch.local] * batch.passes, batch.local * self._parts, lambda: batch.local)

    def epochs(self, dataset, count, shuffle=True, **loader):
        """The numbers of the remaining passes over the data set; all workers take part in each. `loader` are options of
        DataLoader. Let rank 0 save the trained model within the last epoch, because the job is over after the loop."""
        self._sampler, self._dataset, self._loader_options = ElasticSampler(len(dataset), shuffle, self.seed), dataset, loader
        self._state.length.fill_(len(dataset))
        self._begin(count * len(dataset))
        while (epoch := self._epoch_at_hand()) < count:
            yield epoch
            if self.epoch == epoch:
                raise allot_elastic.ElasticError(f"epoch {epoch} must go through all of batches()")
        self._finish()

    def batches(self):
        """The batches of the data set's DataLoader for this worker's passes of an epoch."""
        epoch, plan = self.epoch, None
        while self._epoch_at_hand() == epoch:
            batch, worker = self.worker.batch, self.worker
            at_hand = (self._joins, min(batch.local * self._parts, self._most), batch.passes, worker.rank, worker.world_size)
            if plan != at_hand:
                plan, shares = at_hand, Shares(self._sampler, self._taken, *at_hand[1:])
                batches = batches_of(self._dataset, shares, self.seed, self.steps, self._loader_options)
            yield from self._step(*shares.sizes(self._taken), lambda: next(batches))
            if self.epoch > epoch:
                return  # what the program does now still belongs to the state
        self._put_again = True  # other workers ended the epoch, and their state includes what they did after it

    @property
    def _taken(self):
        return int(self._state.taken)

    @property
    def _parts(self):
        return self.worker.world_size * self.worker.batch.passes

    def _begin(self, total_work):
        if self._beside:
            raise allot_elastic.ElasticError("a training has one loop")
        self._beside = _started.pop() if _started else Beside()
        size = sum(one.numel() for one in self.parameters) + len(self.parameters)
        memory = self._beside.share(self._state.bytes, size)
        self._state.bind(memory)
        self._gradient = torch.frombuffer(memory, dtype=torch.float32, offset=self._state.bytes, count=size)
        self._state.take()
        self._beside.open(self._state.bytes, size, self._adapt, {"total_work": total_work, **self._options})

    def _finish(self):
        self._state.take()  # for the last checkpoint
        self._beside.call("finish", self.steps)

    def _stay(self):
        """Continues as a member, or ends the program if this worker must leave."""
        if not self._settle():
            leave()

    def _epoch_at_hand(self):
        self._stay()
        return self.epoch

    def _settle(self):
        """Called between two steps: reports the last one, and joins again if the workers change. False: this worker must
        leave."""
        if not self._reported:
            self._reported = True
            if self.worker.save_due:
                self._state.take()
            self._beside.call("after_step", self.steps)
        if self._put_again:
            self._put_again = False
            self._state.put()
        if not self._regroup:
            return True
        length = int(self._state.length)
        if self._joins:
            self._state.take()
        step = self._beside.call("join", self.steps)
        if step is None:
            return False
        self._state.put()
        if int(self._state.length) != length:
            raise allot_elastic.ElasticError(f"the data set must have the {int(self._state.length)} samples that it began with, "
                                             f"got {length}")
        self.steps, self._regroup, self._joins = step, False, self._joins + 1
        return True

    def _step(self, sizes, samples, draw):
        """The passes of a step: this worker's have these `sizes`, the whole step has `samples`. If a peer is lost, nothing
        changes."""
        self.step_samples, parts = samples, self._parts
        for pass_, size in enumerate(sizes):
            weight = size * parts / samples  # the average weights all parts equally
            self._pass_loss = 0.0
            if size:
                seed_pass(self.seed, self.steps, pass_ * self.worker.world_size + self.worker.rank)
                self._pass_loss = None
                yield draw()
                if self._pass_loss is None:
                    raise allot_elastic.ElasticError("each pass must call backward(loss) once")
            self._gather(weight if size else 0)
            call = "accumulate" if pass_ + 1 < len(sizes) else "reduce"
            turn = self._beside.call(call, self._pass_loss * weight, float(size))
        self._regroup = turn.regroup or not turn.apply
        if not turn.apply:
            return
        self._apply()
        self.steps, self.loss, self._stop, self._reported = self.steps + 1, turn.loss, self.worker.done, False
        if self._sampler:
            self._state.taken += samples
        if self._after_step:
            self._after_step()

    def _gather(self, weight):
        """Copies the gradient of a pass to the shared memory."""
        for one, at, has_one in self._places():
            if one.grad is None or not weight:
                at.zero_()
                has_one.zero_()
            else:
                at.copy_(one.grad.detach().reshape(-1))
                at.mul_(weight)
                has_one.fill_(_HAS_ONE)

    def _apply(self):
        for one, at, has_one in self._places():  # frozen parameters have no gradient, so weight decay leaves them
            one.grad = at.view_as(one).to(one.device, one.dtype) if has_one > 0 else None
        if self._clip_norm:
            torch.nn.utils.clip_grad_norm_(self.parameters, self._clip_norm)
        groups, factor = self.optimizer.param_groups, self.worker.batch.rate_factor
        rates = [group["lr"] for group in groups]
        for group in groups:
            group["lr"] *= factor
        self.optimizer.step()
        for group, rate in zip(groups, rates):  # as a scheduler left them
            group["lr"] = rate

    def _places(self):
        """Each parameter with its gradient and its mark in the shared memory."""
        at, have = 0, self._gradient[-len(self.parameters):]
        for number, one in enumerate(self.parameters):
            yield one, self._gradient[at:at + one.numel()], have[number]
            at += one.numel()
