"""The state of a PyTorch training as bytes, which new workers receive and checkpoints contain."""

import torch

import allot_elastic
from allot_elastic.optimizer_state import OptimizerState
from allot_elastic.plain import bytes_of, packed, tensor_of, unpacked

_ALIGNED = 64
_GROWTH = 4096  # bytes by which numbers and texts may grow
_DIGITS = 24  # for each number of the optimizer's state


class TrainingState:
    """Model, optimizer and whatever else has a state_dict (`carried`), in one block of bytes.

    The block has the tensors of any device, then the optimizer's settings such as learning rates, and `carried`. Its size is
    fixed at the beginning, with room for numbers that become longer.
    """

    def __init__(self, model, optimizer, carried):
        self._model, self._optimizer, self._carried = model, optimizer, list(carried)
        self._of_optimizer = OptimizerState(optimizer)
        self.taken = torch.zeros(1, dtype=torch.int64)  #: samples of the data set that are done, over all passes
        self.length = torch.zeros(1, dtype=torch.int64)  #: of the data set; 0: the program draws its samples itself
        tensors = sum(size for _, size in self._tensors())
        self._growth = _GROWTH + _DIGITS * sum(map(len, self._of_optimizer.numbers()))
        self._room = len(self._objects()) + self._growth
        self.bytes = -(-(tensors + self._room) // _ALIGNED) * _ALIGNED
        self._block = None

    def bind(self, memory):
        """Uses the first `bytes` of the memory as the block from now on."""
        self._block = torch.frombuffer(memory, dtype=torch.uint8, count=self.bytes)

    def take(self):
        """Copies the training's state to the block."""
        self._of_optimizer.note()
        at = 0
        for tensor, size in self._tensors():
            if tensor is not None:
                self._block[at:at + size] = bytes_of(tensor)
            at += size
        objects = self._objects()
        if len(objects) > self._room:
            raise allot_elastic.ElasticError(f"state dicts of optimizer and `carry` must stay within {self._room} bytes, as they "
                                             f"were {self._room - self._growth} at the beginning, got {len(objects)}")
        self._block[at:at + len(objects)] = torch.frombuffer(bytearray(objects), dtype=torch.uint8)

    def put(self):
        """Copies the block to the training's state."""
        at = 0
        for tensor, size in self._tensors():
            if tensor is not None:
                tensor.detach().copy_(tensor_of(self._block[at:at + size], tensor.dtype, tensor.shape))
            if tensor is self._of_optimizer.made:
                self._of_optimizer.make()
            at += size
        found = unpacked(self._block[at:].numpy().tobytes())
        self._of_optimizer.put_numbers(found["numbers"])
        for group, settings in zip(self._optimizer.param_groups, found["groups"]):
            group.update(settings)
        for one, state in zip(self._carried, found["carried"]):
            one.load_state_dict(state)

    def _tensors(self):
        """Each tensor with its size in bytes; None if the optimizer has not made it yet. Not cached, because programs may
        replace buffers."""
        ours = (self.taken, self.length, self._of_optimizer.made)
        of_model = (value for value in self._model.state_dict().values() if isinstance(value, torch.Tensor))
        yield from ((tensor, tensor.numel() * tensor.element_size()) for tensor in (*ours, *of_model))
        yield from self._of_optimizer.tensors()

    def _objects(self):
        groups = [{key: value for key, value in group.items() if key != "params"} for group in self._optimizer.param_groups]
        return packed({"groups": groups, "numbers": self._of_optimizer.numbers(),
                       "carried": [one.state_dict() for one in self._carried]})
