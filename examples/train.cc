#include "examples/train.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/command_line.h"
#include "core/error.h"
#include "elastic/torch/elastic_worker.h"

namespace allot {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::int64_t steps = 1000;
  std::int64_t batch = 64;
  std::int64_t most_batch = 0;
  std::int64_t most_local = 256;
  std::string rule = "adascale";
  double rate = 0.02;
  int pace_ms = 0;
  int pace_us = 0;
  int save_seconds = 0;
  double until_loss = 0;
  double noise = 0;
  double mislabel = 0;
  std::int64_t more_state_mb = 0;
};

constexpr double kMomentum = 0.9;
constexpr std::int64_t kValidationBatch = 2048;
constexpr std::int64_t kValidateEvery = 20;          // steps
constexpr std::int64_t kValidationSeed = 1LL << 40;  // that no step has
constexpr std::uint64_t kLabels = 1ULL << 62;        // draws of their own
constexpr std::int64_t kMostPasses = 1 << 16;        // of a step, over all workers

// Rank r's rows of a batch: as even as rows allow, the same for all who count.
Batch ShareOf(const Batch& batch, int rank, int world) {
  const std::int64_t rows = batch.input.size(0);
  const std::int64_t begin = rows * rank / world;
  const std::int64_t end = rows * (rank + 1) / world;
  return {batch.input.slice(0, begin, end), batch.target.slice(0, begin, end)};
}

// What a worker must know to take part, beside the parameters themselves.
struct State {
  State(const Options& options, const Example& example) {
    std::int64_t size = 0;
    for (const at::Tensor& parameter : example.parameters) {
      velocity.push_back(at::zeros_like(parameter));
      for (const at::Tensor& tensor : {parameter, velocity.back()}) {
        blocks.push_back({tensor.data_ptr(), tensor.nbytes()});
      }
      size += parameter.numel();
    }
    gradient = at::zeros({size});
    if (options.more_state_mb > 0) {
      more = at::full({options.more_state_mb << 20}, 1, at::kByte);
      blocks.push_back({more.data_ptr(), more.nbytes()});
    }
  }

  std::vector<at::Tensor> velocity;
  at::Tensor gradient;
  at::Tensor more;
  std::vector<StateBlock> blocks;
};

std::optional<std::chrono::seconds> SaveEvery(const Options& options) {
  if (options.save_seconds == 0) return std::nullopt;
  return std::chrono::seconds(options.save_seconds);
}

class Training {
 public:
  Training(const Options& options, const Example& example)
      : options_(options),
        example_(example),
        state_(options, example),
        worker_(WorkerEnvironment::OfThisProcess(),
                {.save_every = SaveEvery(options),
                 .total_work = static_cast<double>(options.steps * options.batch)}) {
    if (!adapts()) return;
    worker_.AdaptBatch({{options.batch, options.most_batch, 1, options.most_local},
                        ParseLearningRateRule(options.rule)});
  }

  int Run() {
    auto last_step = Clock::now();
    while (worker_.Join(state_.blocks, &step_)) {
      const std::chrono::duration<double, std::milli> pause = Clock::now() - last_step;
      fmt::print("joined rank={} world={} step={} pause_ms={:.1f}\n", worker_.rank(),
                 worker_.world_size(), step_, pause.count());
      while (!Over()) {
        const Turn turn = Step();
        if (!turn.apply) break;
        Apply();
        done_ = turn.done;
        ++step_;
        if (step_ % 10 == 0 && worker_.rank() == 0) Print(turn);
        worker_.AfterStep(step_, state_.blocks);
        last_step = Clock::now();
        if (turn.regroup) break;
      }
      if (Over()) {
        fmt::print("finished step={}\n", step_);
        return worker_.Finish(step_, state_.blocks);
      }
    }
    fmt::print("left step={}\n", step_);
    return 0;
  }

 private:
  bool adapts() const { return options_.most_batch > 0; }
  std::span<float> gradient() const {
    return {state_.gradient.data_ptr<float>(), static_cast<std::size_t>(state_.gradient.numel())};
  }

  // Where the batch follows the workers, steps are not alike: their work is counted.
  bool Over() const {
    if (done_) return true;
    if (!adapts()) return step_ >= options_.steps;
    return worker_.work() >= static_cast<double>(options_.steps * options_.batch);
  }

  Turn Step() {
    const int passes = adapts() ? worker_.batch().passes() : 1;
    for (int pass = 0; pass + 1 < passes; ++pass) worker_.Accumulate(gradient(), Pass(pass));
    LocalStep local = Pass(passes - 1);
    local.done = reached_;
    return worker_.Reduce(gradient(), local);
  }

  // All workers draw the same batch and take their rows of it; where it follows the workers, each
  // draws its own.
  Batch Draw(int pass) const {
    const int rank = worker_.rank();
    const int world = worker_.world_size();
    if (!adapts()) return ShareOf(Make(step_, options_.batch), rank, world);
    return Make(step_ * kMostPasses + pass * world + rank, worker_.batch().local);
  }

  Batch Make(std::int64_t seed, std::int64_t samples) const {
    Batch batch = example_.batch(seed, samples);
    if (options_.noise > 0) {
      const auto draws =
          at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(-1 - seed));
      batch.input = at::randn(batch.input.sizes(), draws).mul_(options_.noise).add_(batch.input);
    }
    if (options_.mislabel > 0) {
      const auto draws =
          at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(-1 - seed) ^ kLabels);
      const at::Tensor mistaken = at::rand({samples}, draws).lt(options_.mislabel).nonzero();
      const at::Tensor others = at::randint(samples, mistaken.sizes(), draws).to(at::kLong);
      batch.target.index_copy_(0, mistaken.flatten(),
                               batch.target.index_select(0, others.flatten()));
    }
    return batch;
  }

  LocalStep Pass(int pass) {
    const auto begin = Clock::now();
    const Batch share = Draw(pass);
    const std::int64_t samples = share.input.size(0);
    for (const at::Tensor& parameter : example_.parameters) parameter.mutable_grad().reset();
    const at::Tensor loss = example_.loss(example_.forward(share.input), share.target);
    loss.backward();
    std::vector<at::Tensor> parts;
    for (const at::Tensor& parameter : example_.parameters) {
      parts.push_back(parameter.grad().flatten());
    }
    at::cat_out(state_.gradient, parts);
    std::this_thread::sleep_until(begin + std::chrono::milliseconds(options_.pace_ms) +
                                  std::chrono::microseconds(options_.pace_us * samples));
    return {.loss = loss.item<double>(), .samples = static_cast<double>(samples)};
  }

  void Apply() {
    const at::NoGradGuard no_gradient;
    const double rate = options_.rate * worker_.rate_factor();
    std::int64_t at = 0;
    for (std::size_t i = 0; i < state_.velocity.size(); ++i) {
      const at::Tensor& parameter = example_.parameters[i];
      state_.velocity[i].mul_(kMomentum).add_(
          state_.gradient.slice(0, at, at + parameter.numel()).view_as(parameter));
      parameter.sub_(state_.velocity[i], rate);
      at += parameter.numel();
    }
  }

  void Print(const Turn& turn) {
    fmt::print("step={} loss={:.5f} world={}", step_, turn.loss, worker_.world_size());
    if (adapts()) {
      fmt::print(" batch={} work={:.0f} factor={:.3f}", worker_.batch().total(), worker_.work(),
                 worker_.rate_factor());
    }
    if (options_.until_loss > 0 && step_ % kValidateEvery == 0) {
      const double loss = Validate();
      fmt::print(" validation={:.5f}", loss);
      reached_ = loss <= options_.until_loss;  // all hear of it in the next step
    }
    fmt::print("\n");
  }

  double Validate() const {
    const at::NoGradGuard no_gradient;
    const Batch batch = Make(kValidationSeed, kValidationBatch);
    return example_.loss(example_.forward(batch.input), batch.target).item<double>();
  }

  const Options options_;
  const Example& example_;
  State state_;
  ElasticWorker worker_;  // once the state is there: from then on others wait for this one
  std::int64_t step_ = 0;
  bool reached_ = false;  // this worker has seen the loss that ends training
  bool done_ = false;
};

}  // namespace

int TrainElastic(int argc, char** argv, const Example& example) {
  Options options;
  CommandLine line("An elastic training job: started by allot, one process a GPU");
  line.Option("--steps", options.steps, "training steps").Positive();
  line.Option("--batch", options.batch, "samples a step, of all workers together").Range(16, 65536);
  line.Option("--most-batch", options.most_batch,
              "the batch follows the workers and the noise of the gradient, up to so many samples; "
              "--steps are then of --batch samples");
  line.Option("--most-local", options.most_local, "samples of one pass on one worker, at most")
      .Positive();
  line.Option("--rule", options.rule,
              "how the learning rate follows: adascale, square-root, linear or constant");
  line.Option("--rate", options.rate, "learning rate");
  line.Option("--pace-ms", options.pace_ms, "a pass takes at least so many milliseconds");
  line.Option("--pace-us", options.pace_us, "and so many microseconds for each sample");
  line.Option("--save-seconds", options.save_seconds, "between checkpoints")
      .DefaultText("as allot advises");
  line.Option("--noise", options.noise, "more noise in all inputs, by its standard deviation");
  line.Option("--more-state-mb", options.more_state_mb,
              "bytes beside the network that newcomers get and checkpoints hold, to measure with");
  line.Option("--mislabel", options.mislabel,
              "share of the samples that have the label of another one, drawn from the batch");
  line.Option("--until-loss", options.until_loss, "end once the validation loss is so low");
  if (const std::optional<int> code = line.Parse(argc, argv)) return *code;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  at::set_num_threads(1);
  int code = 0;
  try {
    code = Training(options, example).Run();
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    code = static_cast<int>(error.code());
  }
  // A GPU waits for this process to be gone, and libtorch takes its time to tidy up.
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace allot
