"""Elastic training from Python: jobs that allot resizes while they train.

    import numpy, allot_elastic

    worker = allot_elastic.Worker()
    state = [weights, velocity]               # numpy arrays, changed in place
    while (step := worker.join(state, step)) is not None:
        while step < last:
            ...                               # gradient of worker.rank's share of worker.world_size
            turn = worker.reduce(gradient, loss, samples)
            if not turn.apply:                # a peer is gone: join again
                break
            ...                               # apply the averaged gradient to the state
            step += 1
            worker.after_step(step, state)
            if turn.regroup:
                break
        else:
            worker.finish(step, state)
            break

A program whose batch follows its workers calls `worker.adapt(initial=64, most=4096, most_local=256)`
before it joins. `worker.batch` is then the batch of a step: `passes` times `local` samples on each
worker. All passes but the last go to `worker.accumulate(gradient, loss, samples)`, the last one to
`worker.reduce`. The learning rate that was written for `initial` samples is multiplied by
`worker.batch.rate_factor` after `reduce`, and training is over when `worker.work` reaches
`total_work`.

This is a thin layer over liballot_elastic.so (header allot_elastic.h), which is searched in
$ALLOT_ELASTIC_LIBRARY, then beside this package (FOLDER/liballot_elastic.so, FOLDER/python/allot_elastic),
then among the system's libraries. State and gradients are writable objects with contiguous memory:
numpy arrays, array.array, memoryviews. PyTorch programs use allot_elastic.torch.
"""

import ctypes
import ctypes.util
import functools
import os
from typing import NamedTuple

VERSION = 2  # of the library's interface


class ElasticError(RuntimeError):
    """An error of the library."""


class Turn(NamedTuple):
    apply: bool  #: the gradient is the members' average: finish the step with it
    regroup: bool  #: join again, after this step
    loss: float  #: the members' average


class Batch(NamedTuple):
    local: int  #: samples of a pass on this worker
    passes: int  #: passes of a step
    rate_factor: float  #: multiplies the learning rate in the step that was reduced last


class _Range(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("initial", "most", "least_local", "most_local")]


class _Batch(ctypes.Structure):
    _fields_ = [("local", ctypes.c_int64), ("passes", ctypes.c_int), ("rate_factor", ctypes.c_double)]


class _Block(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class _Turn(ctypes.Structure):
    _fields_ = [("apply", ctypes.c_int), ("regroup", ctypes.c_int), ("loss", ctypes.c_double)]


def _find():
    package = os.path.dirname(os.path.abspath(__file__))
    installed = os.path.join(os.path.dirname(os.path.dirname(package)), "liballot_elastic.so")
    named = os.environ.get("ALLOT_ELASTIC_LIBRARY")
    path = named or (installed if os.path.exists(installed) else ctypes.util.find_library("allot_elastic"))
    if not path:
        raise ElasticError(f"liballot_elastic.so is neither at {installed} nor among the system's libraries: "
                           "set ALLOT_ELASTIC_LIBRARY to its path")
    return path


@functools.cache
def load():
    """The library, which is searched once."""
    path = _find()
    library = ctypes.CDLL(path)
    found = library.allot_elastic_version()
    if found != VERSION:
        raise ElasticError(f"{path}: the interface's version must be {VERSION}, got {found}")
    worker, state = ctypes.c_void_p, (ctypes.POINTER(_Block), ctypes.c_size_t)
    library.allot_elastic_error.restype = ctypes.c_char_p
    library.allot_elastic_open.argtypes = (ctypes.c_double,) * 3
    library.allot_elastic_open.restype = worker
    library.allot_elastic_close.argtypes = (worker,)
    library.allot_elastic_close.restype = None
    library.allot_elastic_join.argtypes = (worker, *state, ctypes.POINTER(ctypes.c_int64))
    library.allot_elastic_rank.argtypes = (worker,)
    library.allot_elastic_world_size.argtypes = (worker,)
    library.allot_elastic_reduce.argtypes = (worker, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double,
                                             ctypes.c_double, ctypes.POINTER(_Turn))
    library.allot_elastic_adapt.argtypes = (worker, ctypes.POINTER(_Range), ctypes.c_char_p)
    library.allot_elastic_current_batch.argtypes = (worker, ctypes.POINTER(_Batch))
    library.allot_elastic_accumulate.argtypes = (worker, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double,
                                                 ctypes.c_double)
    library.allot_elastic_say_done.argtypes = (worker,)
    library.allot_elastic_done.argtypes = (worker,)
    library.allot_elastic_work.argtypes = (worker,)
    library.allot_elastic_work.restype = ctypes.c_double
    library.allot_elastic_save_due.argtypes = (worker,)
    library.allot_elastic_after_step.argtypes = (worker, ctypes.c_int64, *state)
    library.allot_elastic_finish.argtypes = (worker, ctypes.c_int64, *state)
    return library


def _memory(array):
    """Address and size in bytes of an object's own memory."""
    view = memoryview(array)
    if view.readonly or not view.c_contiguous:
        raise ValueError("state and gradients must be writable and contiguous in memory")
    if view.nbytes == 0:
        return None, 0
    return ctypes.addressof(ctypes.c_char.from_buffer(view.cast("B"))), view.nbytes


def _gradient(array):
    """Address and number of elements of a float32 array."""
    if memoryview(array).format != "f":
        raise ValueError(f"a gradient must be of float32, got format '{memoryview(array).format}'")
    address, size = _memory(array)
    return address, size // 4


def _blocks(state):
    return (_Block * len(state))(*(_Block(*_memory(array)) for array in state))


class Worker:
    """This process as a worker of the job that its environment names."""

    def __init__(self, total_work=None, save_seconds=None, peer_seconds=None):
        self._library = load()
        unsaid = (-1.0 if value is None else float(value) for value in (total_work, save_seconds, peer_seconds))
        self._worker = self._library.allot_elastic_open(*unsaid)
        if not self._worker:
            raise ElasticError(self._library.allot_elastic_error().decode())

    def close(self):
        if self._worker:
            self._library.allot_elastic_close(self._worker)
            self._worker = None

    __del__ = close

    def _checked(self, code):
        if code < 0:
            raise ElasticError(self._library.allot_elastic_error().decode())
        return code

    @property
    def rank(self):
        return self._library.allot_elastic_rank(self._worker)

    @property
    def world_size(self):
        return self._library.allot_elastic_world_size(self._worker)

    def adapt(self, initial, most, most_local, least_local=1, rule="adascale"):
        """Lets the batch follow the workers: from `initial` samples, for which the learning rate is written, up to
        `most`, with `least_local` to `most_local` in one pass of one worker. `rule` is the rule of the learning
        rate: adascale, square-root, linear or constant."""
        allowed = _Range(initial, most, least_local, most_local)
        self._checked(self._library.allot_elastic_adapt(self._worker, ctypes.byref(allowed), rule.encode()))

    @property
    def batch(self):
        now = _Batch()
        self._checked(self._library.allot_elastic_current_batch(self._worker, ctypes.byref(now)))
        return Batch(now.local, now.passes, now.rate_factor)

    @property
    def work(self):
        """The job's work so far in samples; if the batch follows the workers, in samples at `initial`."""
        return self._library.allot_elastic_work(self._worker)

    def accumulate(self, gradient, loss, samples):
        """Adds the float32 gradient of a pass that is not the step's last."""
        self._checked(self._library.allot_elastic_accumulate(self._worker, *_gradient(gradient), loss, samples))

    def say_done(self):
        """Announces that training is done, which all workers learn in the next reduction (`done`)."""
        self._checked(self._library.allot_elastic_say_done(self._worker))

    @property
    def done(self):
        return bool(self._library.allot_elastic_done(self._worker))

    def join(self, state, step=0):
        """Waits for a group; returns the step to continue from, with rank 0's state. None: this worker must end."""
        at = ctypes.c_int64(step)
        member = self._checked(self._library.allot_elastic_join(self._worker, _blocks(state), len(state),
                                                                ctypes.byref(at)))
        return at.value if member else None

    def reduce(self, gradient, loss, samples):
        """Averages float32 `gradient` over the members in place."""
        turn = _Turn()
        self._checked(self._library.allot_elastic_reduce(self._worker, *_gradient(gradient), loss, samples,
                                                         ctypes.byref(turn)))
        return Turn(bool(turn.apply), bool(turn.regroup), turn.loss)

    @property
    def save_due(self):
        """After a reduction: true if `after_step` will read the state for a checkpoint."""
        return bool(self._library.allot_elastic_save_due(self._worker))

    def after_step(self, step, state):
        """Reports that `step` steps are finished, and writes a checkpoint if one is due."""
        self._checked(self._library.allot_elastic_after_step(self._worker, step, _blocks(state), len(state)))

    def finish(self, step, state):
        """Reports that the job's work is done."""
        self._checked(self._library.allot_elastic_finish(self._worker, step, _blocks(state), len(state)))
