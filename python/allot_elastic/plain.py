"""Converts state dicts to bytes and back: JSON followed by tensors. A pickle would let bytes from the network become code, and
PyTorch's own safe reader does not read numbers before 2.0."""

import json

import torch

_LENGTH = 8  # bytes of the JSON's length


def bytes_of(tensor):
    """A copy of a tensor's bytes in the CPU's memory."""
    return tensor.detach().cpu().contiguous().reshape(-1).clone().view(torch.uint8)


def tensor_of(data, dtype, shape):
    """A new tensor from a tensor of bytes."""
    return data.clone().view(dtype).view(shape)


def packed(value):
    """Packs dicts, lists, tuples, tensors, numbers, texts and None; TypeError for other types."""
    tensors = []
    text = json.dumps(_to_json(value, tensors)).encode()
    return b"".join([len(text).to_bytes(_LENGTH, "little"), text, *(bytes_of(one).numpy().tobytes() for one in tensors)])


def unpacked(data):
    """The packed value; `data` may be longer."""
    begin = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    return _from_json(json.loads(bytes(data[_LENGTH:begin])), memoryview(data)[begin:])[0]


def _to_json(value, tensors):
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"tensor": [str(value.dtype).removeprefix("torch."), list(value.shape)]}
    if isinstance(value, dict):
        return {"dict": [[_to_json(key, tensors), _to_json(of, tensors)] for key, of in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_to_json(one, tensors) for one in value]}
    if isinstance(value, list):
        return [_to_json(one, tensors) for one in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a state dict must consist of numbers, texts, tensors, lists and dicts, got {value!r}")


def _from_json(value, data):
    """The value, and the rest of the tensors' bytes."""
    if isinstance(value, list):
        items = []
        for one in value:
            item, data = _from_json(one, data)
            items.append(item)
        return items, data
    if not isinstance(value, dict):
        return value, data
    (kind, of), = value.items()
    if kind == "tensor":
        dtype, shape = getattr(torch, of[0]), of[1]
        size = torch.empty(0, dtype=dtype).element_size() * torch.Size(shape).numel()
        whole = torch.tensor(bytearray(data[:size]), dtype=torch.uint8)
        return tensor_of(whole, dtype, shape), data[size:]
    items, data = _from_json(of, data)
    return (dict(items) if kind == "dict" else tuple(items)), data
