"""The state of a PyTorch training as bytes that workers hand on: what a newcomer needs, and what a checkpoint holds."""

import torch

import allot_elastic
from allot_elastic.plain import bytes_of, packed, tensor_of, unpacked

_ALIGNED = 64
_GROWTH = 4096  # bytes by which numbers and texts may grow


def make_optimizer_state(optimizer):
    """Optimizers make momentum and the like at their first step; newcomers must have it before. A step that changes
    nothing makes it."""
    rates = [group["lr"] for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        group["lr"] = 0.0
        for one in group["params"]:
            one.grad = torch.zeros_like(one)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    for group, rate in zip(optimizer.param_groups, rates):
        group["lr"] = rate
    for of_one in optimizer.state.values():
        for key, value in of_one.items():
            if isinstance(value, torch.Tensor):
                value.zero_()
            elif value is not None:
                raise allot_elastic.ElasticError(
                    f"an optimizer's state must be tensors to be handed on, got {key}={value!r}")


class TrainingState:
    """Model, optimizer and whatever else has a state_dict (`carried`), in one block of bytes.

    First the tensors, wherever they are, then the optimizer's settings, as its learning rates, and `carried`. The block's
    size stays what it was at the beginning, with room for numbers that become longer.
    """

    def __init__(self, model, optimizer, carried):
        self._model, self._optimizer, self._carried = model, optimizer, list(carried)
        self.taken = torch.zeros(1, dtype=torch.int64)  #: samples of the data set that are done, over all passes
        self.length = torch.zeros(1, dtype=torch.int64)  #: of the data set; 0: the program draws its samples itself
        tensors = sum(tensor.numel() * tensor.element_size() for tensor in self._tensors())
        self._room = len(self._objects()) + _GROWTH
        self.bytes = -(-(tensors + self._room) // _ALIGNED) * _ALIGNED
        self._block = None

    def bind(self, memory):
        """The block from now on: `bytes` at the beginning of the memory."""
        self._block = torch.frombuffer(memory, dtype=torch.uint8, count=self.bytes)

    def take(self):
        """From the training to the block."""
        at = 0
        for tensor in self._tensors():
            data = bytes_of(tensor)
            self._block[at:at + data.numel()] = data
            at += data.numel()
        objects = self._objects()
        if len(objects) > self._room:
            raise allot_elastic.ElasticError(f"state dicts of optimizer and `carry` must stay within {self._room} bytes, as they "
                                             f"were {self._room - _GROWTH} at the beginning, got {len(objects)}")
        self._block[at:at + len(objects)] = torch.frombuffer(bytearray(objects), dtype=torch.uint8)

    def put(self):
        """From the block to the training."""
        at = 0
        for tensor in self._tensors():
            size = tensor.numel() * tensor.element_size()
            tensor.detach().copy_(tensor_of(self._block[at:at + size], tensor.dtype, tensor.shape))
            at += size
        found = unpacked(self._block[at:].numpy().tobytes())
        for group, settings in zip(self._optimizer.param_groups, found["groups"]):
            group.update(settings)
        for one, state in zip(self._carried, found["carried"]):
            one.load_state_dict(state)

    def _tensors(self):
        """Each time anew: programs may replace buffers."""
        yield self.taken
        yield self.length
        yield from (value for value in self._model.state_dict().values() if isinstance(value, torch.Tensor))
        for group in self._optimizer.param_groups:
            for one in group["params"]:
                yield from (value for value in self._optimizer.state[one].values() if isinstance(value, torch.Tensor))

    def _objects(self):
        groups = [{key: value for key, value in group.items() if key != "params"} for group in self._optimizer.param_groups]
        return packed({"groups": groups, "carried": [one.state_dict() for one in self._carried]})
