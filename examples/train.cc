#include "examples/train.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "core/command_line.h"
#include "core/error.h"
#include "elastic/torch/elastic_worker.h"

namespace allot {
namespace {

struct Options {
  std::int64_t steps = 1000;
  std::int64_t batch = 64;
  double rate = 0.02;
  int pace_ms = 0;
  int save_seconds = 60;
};

constexpr double kMomentum = 0.9;

// Rank r's rows of a batch: as even as rows allow, the same for all who count.
Batch ShareOf(const Batch& batch, int rank, int world) {
  const std::int64_t rows = batch.input.size(0);
  const std::int64_t begin = rows * rank / world;
  const std::int64_t end = rows * (rank + 1) / world;
  return {batch.input.slice(0, begin, end), batch.target.slice(0, begin, end)};
}

int Train(const Options& options, const Example& example) {
  std::vector<at::Tensor> parameters = example.parameters;
  std::vector<at::Tensor> velocity;
  std::vector<StateBlock> state;
  std::int64_t size = 0;
  for (const at::Tensor& parameter : parameters) {
    velocity.push_back(at::zeros_like(parameter));
    for (const at::Tensor& tensor : {parameter, velocity.back()}) {
      state.push_back({tensor.data_ptr(), tensor.nbytes()});
    }
    size += parameter.numel();
  }
  at::Tensor gradient = at::zeros({size});

  ElasticWorker worker(WorkerEnvironment::OfThisProcess(),
                       {.save_every = std::chrono::seconds(options.save_seconds),
                        .total_work = static_cast<double>(options.steps * options.batch)});
  std::int64_t step = 0;
  auto last_step = std::chrono::steady_clock::now();
  while (worker.Join(state, &step)) {
    const std::chrono::duration<double, std::milli> pause =
        std::chrono::steady_clock::now() - last_step;
    fmt::print("joined rank={} world={} step={} pause_ms={:.1f}\n", worker.rank(),
               worker.world_size(), step, pause.count());
    while (step < options.steps) {
      const auto begin = std::chrono::steady_clock::now();
      const Batch share =
          ShareOf(example.batch(step, options.batch), worker.rank(), worker.world_size());
      for (at::Tensor& parameter : parameters) parameter.mutable_grad().reset();
      at::Tensor loss = example.loss(example.forward(share.input), share.target);
      loss.backward();
      std::vector<at::Tensor> parts;
      for (const at::Tensor& parameter : parameters) {
        parts.push_back(parameter.grad().flatten());
      }
      at::cat_out(gradient, parts);

      const Turn turn = worker.Reduce(
          {gradient.data_ptr<float>(), static_cast<std::size_t>(size)},
          {.loss = loss.item<double>(), .samples = static_cast<double>(share.input.size(0))});
      if (!turn.apply) break;
      {
        const at::NoGradGuard no_gradient;
        std::int64_t at = 0;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
          at::Tensor& parameter = parameters[i];
          velocity[i].mul_(kMomentum).add_(
              gradient.slice(0, at, at + parameter.numel()).view_as(parameter));
          parameter.sub_(velocity[i], options.rate);
          at += parameter.numel();
        }
      }
      ++step;
      if (step % 10 == 0 && worker.rank() == 0) {
        fmt::print("step={} loss={:.5f} world={}\n", step, turn.loss, worker.world_size());
      }
      worker.AfterStep(step, state);
      last_step = std::chrono::steady_clock::now();
      std::this_thread::sleep_until(begin + std::chrono::milliseconds(options.pace_ms));
      if (turn.regroup) break;
    }
    if (step >= options.steps) {
      fmt::print("finished step={}\n", step);
      return worker.Finish(step, state);
    }
  }
  fmt::print("left step={}\n", step);
  return 0;
}

}  // namespace

int TrainElastic(int argc, char** argv, const Example& example) {
  Options options;
  CommandLine line("An elastic training job: started by allot, one process a GPU");
  line.Option("--steps", options.steps, "training steps").Positive();
  line.Option("--batch", options.batch, "samples a step, of all workers together").Range(64, 65536);
  line.Option("--rate", options.rate, "learning rate");
  line.Option("--pace-ms", options.pace_ms, "a step takes at least so many milliseconds");
  line.Option("--save-seconds", options.save_seconds, "between checkpoints");
  if (const std::optional<int> code = line.Parse(argc, argv)) return *code;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  at::set_num_threads(1);
  int code = 0;
  try {
    code = Train(options, example);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    code = static_cast<int>(error.code());
  }
  // A GPU waits for this process to be gone, and libtorch takes its time to tidy up.
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace allot
