"""Elastic PyTorch training whose batch follows its GPUs.

    import allot_elastic.torch

    training = allot_elastic.torch.Training(model, optimizer, batch=64, most=4096, most_local=256, work=1e6)
    for samples in training:                    # of a pass on this worker
        inputs, targets = draw(samples)         # each worker its own
        training.backward(loss_of(model(inputs), targets))

The optimizer's learning rates are those for `batch` samples; each step takes them times a factor that follows the batch
(`rule`: adascale, square-root, linear or constant). Training ends when the steps are worth `work` samples of `batch`, or
after `training.stop()`. A new worker gets model and optimizer from rank 0, a restarted job from its checkpoint. Gradients
are averaged once a step, over workers and passes. Models, optimizers and gradients are in the CPU's memory.
"""

import torch

import allot_elastic


def _own_memory(tensor):
    """Its bytes as a numpy array: what is written there is in the tensor."""
    if tensor.device.type != "cpu" or not tensor.is_contiguous():
        raise allot_elastic.ElasticError(
            f"state must be contiguous and in the CPU's memory, got a tensor of {tuple(tensor.shape)} on {tensor.device}")
    return tensor.detach().reshape(-1).view(torch.uint8).numpy()


class Training:
    """The steps of a job, as passes for the program to compute."""

    def __init__(self, model, optimizer, batch, most, most_local, work, least_local=1, rule="adascale", **worker):
        """`batch`: samples of all workers together that learning rates are written for. The other limits are
        Worker.adapt's, further keywords Worker's."""
        self.model, self.optimizer, self.work = model, optimizer, work
        self.parameters = [one for group in optimizer.param_groups for one in group["params"]]
        self.steps, self.loss = 0, float("nan")  #: steps that are done, and the members' mean loss of the last one
        self._pass_loss, self._stop = None, False
        self._make_optimizer_state()
        tensors = [*model.state_dict().values(),
                   *(value for one in self.parameters for value in optimizer.state[one].values()
                     if isinstance(value, torch.Tensor))]
        self._state = [_own_memory(tensor) for tensor in tensors]
        self.worker = allot_elastic.Worker(total_work=work, **worker)
        self.worker.adapt(batch, most, most_local, least_local, rule)

    def _make_optimizer_state(self):
        """Optimizers make momentum and the like at their first step; newcomers must have it before. A step that changes
        nothing makes it."""
        rates = [group["lr"] for group in self.optimizer.param_groups]
        for group in self.optimizer.param_groups:
            group["lr"] = 0.0
        for one in self.parameters:
            one.grad = torch.zeros_like(one)
        self.optimizer.step()
        self.model.zero_grad(set_to_none=True)
        for group, rate in zip(self.optimizer.param_groups, rates):
            group["lr"] = rate
        for of_one in self.optimizer.state.values():
            for key, value in of_one.items():
                if isinstance(value, torch.Tensor):
                    value.zero_()
                elif value is not None:
                    raise allot_elastic.ElasticError(
                        f"an optimizer's state must be tensors to be handed on, got {key}={value!r}")

    def backward(self, loss):
        """The gradient of this pass; once a pass."""
        self.model.zero_grad(set_to_none=True)
        loss.backward()
        self._pass_loss = float(loss.detach())

    def stop(self):
        """This worker has seen that training is done: all end after the next step."""
        self.worker.say_done()

    @property
    def over(self):
        return self._stop or self.worker.work >= self.work

    def __iter__(self):
        while (step := self.worker.join(self._state, self.steps)) is not None:
            self.steps = step
            while not self.over:
                turn, gradient = yield from self._reduced()
                if not turn.apply:
                    break
                self._apply(gradient)
                self.steps, self.loss, self._stop = self.steps + 1, turn.loss, self.worker.done
                self.worker.after_step(self.steps, self._state)
                if turn.regroup:
                    break
            if self.over:
                self.worker.finish(self.steps, self._state)
                return

    def _reduced(self):
        """The passes of a step."""
        batch = self.worker.batch
        for pass_ in range(batch.passes):
            self._pass_loss = None
            yield batch.local
            if self._pass_loss is None:
                raise allot_elastic.ElasticError("each pass must call backward(loss) once")
            gradient = torch.cat([(torch.zeros_like(one) if one.grad is None else one.grad).flatten()
                                  for one in self.parameters]).float()
            if pass_ + 1 < batch.passes:
                self.worker.accumulate(gradient.numpy(), self._pass_loss, batch.local)
        return self.worker.reduce(gradient.numpy(), self._pass_loss, batch.local), gradient

    def _apply(self, gradient):
        at = 0
        for one in self.parameters:
            one.grad = gradient[at:at + one.numel()].view_as(one).to(one.dtype)
            at += one.numel()
        groups, factor = self.optimizer.param_groups, self.worker.batch.rate_factor
        rates = [group["lr"] for group in groups]
        for group in groups:
            group["lr"] *= factor
        self.optimizer.step()
        for group, rate in zip(groups, rates):  # as a scheduler left them
            group["lr"] = rate
