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
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--pace-ms", type=float, default=0, help="a step takes at least so many milliseconds")
    options = parser.parse_args()

    begin = numpy.random.default_rng(1)
    first = (begin.standard_normal((INPUTS, HIDDEN)) / INPUTS**0.5).astype(numpy.float32)
    second = (begin.standard_normal((HIDDEN, 1)) / HIDDEN**0.5).astype(numpy.float32)
    teacher = begin.standard_normal((INPUTS, 1)).astype(numpy.float32) / INPUTS**0.5
    velocity = numpy.zeros(first.size + second.size, numpy.float32)
    state = [first, second, velocity]

    worker = allot_elastic.Worker(total_work=options.steps * options.batch)
    step = 0
    while (step := worker.join(state, step)) is not None:
        print(f"joined rank={worker.rank} world={worker.world_size} step={step}", flush=True)
        while step < options.steps:
            until = time.monotonic() + options.pace_ms / 1000
            # All workers draw the same batch and take their rows of it.
            batch = numpy.random.default_rng(step).standard_normal((options.batch, INPUTS)).astype(numpy.float32)
            rows = slice(options.batch * worker.rank // worker.world_size,
                         options.batch * (worker.rank + 1) // worker.world_size)
            inputs = batch[rows]
            hidden = numpy.maximum(inputs @ first, 0)
            error = hidden @ second - numpy.tanh(inputs @ teacher)
            slope = 2 * error / len(inputs)
            back = (slope @ second.T) * (hidden > 0)
            gradient = numpy.concatenate([(inputs.T @ back).ravel(), (hidden.T @ slope).ravel()])

            turn = worker.reduce(gradient, float((error**2).mean()), len(inputs))
            if not turn.apply:
                break
            velocity *= MOMENTUM
            velocity += gradient
            first -= options.rate * velocity[:first.size].reshape(first.shape)
            second -= options.rate * velocity[first.size:].reshape(second.shape)
            step += 1
            if step % 10 == 0 and worker.rank == 0:
                print(f"step={step} loss={turn.loss:.5f} world={worker.world_size}", flush=True)
            worker.after_step(step, state)
            time.sleep(max(0.0, until - time.monotonic()))
            if turn.regroup:
                break
        if step >= options.steps:
            print(f"finished step={step}", flush=True)
            worker.finish(step, state)
            return


if __name__ == "__main__":
    main()
