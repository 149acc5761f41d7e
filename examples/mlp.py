#!/usr/bin/env python3
"""A two-layer perceptron in numpy learns what a fixed random one computes, elastically."""

import argparse
import time

import allot_elastic
import numpy

INPUTS, HIDDEN, MOMENTUM = 32, 64, 0.9


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=64, help="samples a step, of all workers together")
    parser.add_argument("--most-batch", type=int, help="the batch follows the workers and the noise, up to so many")
    parser.add_argument("--most-local", type=int, default=256, help="samples of one pass on one worker, at most")
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--pace-ms", type=float, default=0, help="a pass takes at least so many milliseconds")
    options = parser.parse_args()

    begin = numpy.random.default_rng(1)
    first = (begin.standard_normal((INPUTS, HIDDEN)) / INPUTS**0.5).astype(numpy.float32)
    second = (begin.standard_normal((HIDDEN, 1)) / HIDDEN**0.5).astype(numpy.float32)
    teacher = begin.standard_normal((INPUTS, 1)).astype(numpy.float32) / INPUTS**0.5
    velocity = numpy.zeros(first.size + second.size, numpy.float32)
    state = [first, second, velocity]

    work = options.steps * options.batch
    worker = allot_elastic.Worker(total_work=work)
    if options.most_batch:
        worker.adapt(options.batch, options.most_batch, options.most_local)

    def gradient_of(inputs):
        """The gradient of a pass, its loss and its number of samples."""
        until = time.monotonic() + options.pace_ms / 1000
        hidden = numpy.maximum(inputs @ first, 0)
        error = hidden @ second - numpy.tanh(inputs @ teacher)
        slope = 2 * error / len(inputs)
        back = (slope @ second.T) * (hidden > 0)
        gradient = numpy.concatenate([(inputs.T @ back).ravel(), (hidden.T @ slope).ravel()])
        time.sleep(max(0.0, until - time.monotonic()))
        return gradient, float((error**2).mean()), len(inputs)

    def draw(seed, samples):
        return numpy.random.default_rng(seed).standard_normal((samples, INPUTS)).astype(numpy.float32)

    def inputs_of(step, pass_):
        if options.most_batch:  # each worker draws its own samples
            return draw([step, pass_, worker.rank], worker.batch.local)
        # All workers draw the same batch and take their rows of it.
        rows = slice(options.batch * worker.rank // worker.world_size,
                     options.batch * (worker.rank + 1) // worker.world_size)
        return draw(step, options.batch)[rows]

    step = 0
    while (step := worker.join(state, step)) is not None:
        print(f"joined rank={worker.rank} world={worker.world_size} step={step}", flush=True)
        while worker.work < work:
            passes = worker.batch.passes
            for pass_ in range(passes - 1):
                worker.accumulate(*gradient_of(inputs_of(step, pass_)))
            gradient, loss, samples = gradient_of(inputs_of(step, passes - 1))
            turn = worker.reduce(gradient, loss, samples)
            if not turn.apply:
                break
            rate = options.rate * worker.batch.rate_factor
            velocity *= MOMENTUM
            velocity += gradient
            first -= rate * velocity[:first.size].reshape(first.shape)
            second -= rate * velocity[first.size:].reshape(second.shape)
            step += 1
            if step % 10 == 0 and worker.rank == 0:
                print(f"step={step} loss={turn.loss:.5f} world={worker.world_size}", flush=True)
            worker.after_step(step, state)
            if turn.regroup:
                break
        if worker.work >= work:
            print(f"finished step={step}", flush=True)
            worker.finish(step, state)
            return


if __name__ == "__main__":
    main()
