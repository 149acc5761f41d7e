#pragma once
// The training loop that the examples share: data-parallel SGD with momentum on batches that are
// made from the step's number, so that any number of workers sees the same data. The example gives
// the network and the batches. Narrow headers of libtorch: all of it takes half a minute to
// compile.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace allot {

struct Batch {
  at::Tensor input;
  at::Tensor target;
};

struct Example {
  std::vector<at::Tensor> parameters;
  std::function<at::Tensor(const at::Tensor& input)> forward;
  std::function<Batch(std::int64_t step, std::int64_t samples)> batch;
  std::function<at::Tensor(const at::Tensor& output, const at::Tensor& target)> loss;
};

// Options: --steps N, --batch N (of all workers together), --rate X, --pace-ms N and --pace-us N
// (at least so long a pass, and for each of its samples); --most-batch N: the batch follows the
// workers, up to N; --noise X: in all inputs; --mislabel X: so many samples have another one's
// label;
// --until-loss X: ends once the loss on a batch of its own is so low. Returns the program's exit
// code.
int TrainElastic(int argc, char** argv, const Example& example);

}  // namespace allot
