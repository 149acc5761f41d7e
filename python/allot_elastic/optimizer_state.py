"""An optimizer's state as tensors and numbers, for passing it between workers.

Optimizers make momentum and the like at their first step, for each parameter that has a gradient then, with initial values of
their own: zeros (Adam), ones (NAdam), the learning rate (ASGD). A new worker needs room for a state that rank 0 has already. A
step of a copy without numbers gives the shapes; the optimizer itself makes its own state.
"""

import copy

import torch

import allot_elastic


class OptimizerState:
    """The state of each parameter, whether made yet or not."""

    def __init__(self, optimizer):
        self._optimizer = optimizer
        self._parameters = [one for group in optimizer.param_groups for one in group["params"]]
        shown = optimizer if all(optimizer.state.get(one) for one in self._parameters) else _after_a_step(optimizer)
        shown = [(one, shown.state.get(one, {})) for group in shown.param_groups for one in group["params"]]
        #: for each parameter its tensors by name, as (shape, dtype, whether they are on the parameter's device)
        self._shapes = [{name: (value.shape, value.dtype, _is_beside(value, one)) for name, value in state.items()
                         if isinstance(value, torch.Tensor)} for one, state in shown]
        self._numbers = [_numbers_of(state) for _, state in shown]
        self.made = torch.zeros(len(self._parameters), dtype=torch.int64)  #: travels with the state
        self.note()

    def note(self):
        """Records in `made` which parameters have a state."""
        for at, one in enumerate(self._parameters):
            self.made[at] = bool(self._optimizer.state.get(one))

    def make(self):
        """Makes the state of the parameters in `made`, and removes that of the others."""
        for one, shapes, made in zip(self._parameters, self._shapes, self.made.tolist()):
            state = self._optimizer.state
            if not made:
                state.pop(one, None)
            elif not state.get(one):
                state[one] = {name: torch.zeros(shape, dtype=dtype, device=one.device if beside else "cpu")
                              for name, (shape, dtype, beside) in shapes.items()}

    def tensors(self):
        """(tensor, its bytes) in the same order on all workers; None for a tensor that is not made yet."""
        for one, shapes in zip(self._parameters, self._shapes):
            state = self._optimizer.state.get(one, {})
            for name, (shape, dtype, _) in shapes.items():
                value = state.get(name)
                yield value, shape.numel() * torch.empty(0, dtype=dtype).element_size()

    def numbers(self):
        """The numbers of the states by parameter; before the first step those of the copy."""
        return [_numbers_of(state) if (state := self._optimizer.state.get(one)) else shown
                for one, shown in zip(self._parameters, self._numbers)]

    def put_numbers(self, numbers):
        for one, of_one, made in zip(self._parameters, numbers, self.made.tolist()):
            if made:
                self._optimizer.state[one].update(of_one)


def _is_beside(value, parameter):
    """Counters of steps stay in the CPU's memory, whatever device their parameter is on."""
    return value.device.type == parameter.device.type and (parameter.is_meta or value.dim() > 0)


def _numbers_of(state):
    numbers = {name: value for name, value in state.items() if not isinstance(value, torch.Tensor)}
    for name, value in numbers.items():
        if value is not None and not isinstance(value, (bool, int, float)):
            raise allot_elastic.ElasticError(
                f"an optimizer's state must consist of tensors and numbers, got {name}={value!r}")
    return numbers


def _after_a_step(optimizer):
    """A copy after one step, whose parameters have no values and take no memory if the optimizer can step without."""
    for device in ("meta", "cpu"):
        memo = {id(one): torch.nn.Parameter(torch.zeros_like(one, device=device), one.requires_grad)
                for group in optimizer.param_groups for one in group["params"]}
        shown = copy.deepcopy(optimizer, memo)
        shown.state.clear()  # earlier steps' state is on another device
        for group in shown.param_groups:
            for one in group["params"]:
                one.grad = torch.zeros_like(one)
        try:
            shown.step()
            return shown
        except (NotImplementedError, RuntimeError):
            if device == "cpu":
                raise
