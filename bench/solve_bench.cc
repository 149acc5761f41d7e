// One solve of each of Gavel's problems on three types, by the number of jobs: 26 models (as many
// as the peer's), a quarter of the GPUs that the jobs ask for of each type.
//   classes   jobs of one GPU and weight: at most 26 different ones
//   jobs      one block a job
//   mixed     jobs of 1 to 8 GPUs, a fifth of them with weight 5, as equal as they come
//   first, running   pairs and types chosen together, from nothing, and from what runs

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "solve/block_problem.h"
#include "solve/packed_problem.h"
#include "solve/pair_assignment.h"
#include "solve/queue_plan.h"

namespace {

constexpr int kModels = 26;
constexpr std::size_t kTypes = 3;

std::vector<std::vector<double>> Models() {
  allot::Rng rng(1, "models");
  std::vector<std::vector<double>> models;
  for (int i = 0; i < kModels; ++i) {
    const double fast = std::pow(10, rng.Uniform(-0.3, 2.3));
    models.push_back({fast * rng.Uniform(0.1, 0.4), fast * rng.Uniform(0.3, 1.05), fast});
  }
  return models;
}

allot::PackedProblem Jobs(std::int64_t count, bool mixed) {
  const auto models = Models();
  allot::Rng rng(2, "jobs");
  allot::PackedProblem problem;
  double gpus = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto model = rng.Below(kModels);
    const double draw = rng.Uniform();
    const double size = !mixed || draw < 0.7 ? 1 : draw < 0.8 ? 2 : draw < 0.95 ? 4 : 8;
    problem.alone.Add(size, mixed && rng.Below(5) == 0 ? 5 : 1, models[model]);
    problem.kind.push_back(static_cast<std::int32_t>(model));
    gpus += size;
  }
  problem.alone.capacity.assign(kTypes, std::round(gpus / 4));
  problem.kinds = kModels;
  for (int a = 0; a < kModels; ++a) {
    for (int b = 0; b < kModels; ++b) {
      for (std::size_t g = 0; g < kTypes; ++g) {
        const double part = rng.Uniform(0.3, 0.95);
        problem.beside.push_back(models[static_cast<std::size_t>(a)][g] * part);
      }
    }
  }
  return problem;
}

std::vector<double> Work(const allot::ShareProblem& problem) {
  allot::Rng rng(3, "work");
  std::vector<double> work;
  for (std::size_t i = 0; i < problem.jobs(); ++i) {
    work.push_back(problem.rates(i)[kTypes - 1] * 60 * std::pow(10, rng.Uniform(1.5, 4)));
  }
  return work;
}

void BM_MaxMin(benchmark::State& state, bool mixed) {
  const allot::ShareProblem problem = Jobs(state.range(0), mixed).alone;
  for (auto _ : state) benchmark::DoNotOptimize(allot::MaxMinShares(problem).objective);
}
void BM_MaxMinBlocks(benchmark::State& state) {
  const allot::ShareProblem shares = Jobs(state.range(0), true).alone;
  const std::vector<double> even = allot::EvenRates(shares);
  allot::BlockProblem problem;
  problem.capacity = shares.capacity;
  problem.rate = shares.rate;
  for (std::size_t i = 0; i < shares.jobs(); ++i) {
    problem.blocks.push_back({shares.gpus[i], 0, shares.weight[i] * even[i] / shares.gpus[i]});
  }
  for (auto _ : state) benchmark::DoNotOptimize(allot::MaximiseLevel(problem).value);
}
void BM_Makespan(benchmark::State& state) {
  const allot::ShareProblem problem = Jobs(state.range(0), true).alone;
  const std::vector<double> work = Work(problem);
  for (auto _ : state) benchmark::DoNotOptimize(allot::MakespanShares(problem, work).objective);
}
void BM_MaxSum(benchmark::State& state) {
  const allot::ShareProblem problem = Jobs(state.range(0), true).alone;
  for (auto _ : state) {
    benchmark::DoNotOptimize(allot::MaxSumShares(problem, problem.rate).objective);
  }
}
void BM_FinishTime(benchmark::State& state) {
  const allot::ShareProblem problem = Jobs(state.range(0), true).alone;
  const std::vector<double> isolated = RatesOf(problem, allot::EvenShares(problem).of);
  std::vector<double> work = Work(problem);
  std::vector<double> elapsed;
  std::vector<double> alone;
  allot::Rng rng(4, "progress");
  for (std::size_t i = 0; i < work.size(); ++i) {
    const double done = 0.9 * rng.Uniform();
    alone.push_back(work[i] * done / isolated[i]);
    elapsed.push_back(alone[i] * rng.Uniform(0.7, 1.3));
    work[i] *= 1 - done;
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(allot::FinishTimeShares(problem, work, elapsed, alone).objective);
  }
}
void BM_WaterFilling(benchmark::State& state) {
  const allot::ShareProblem problem = Jobs(state.range(0), true).alone;
  for (auto _ : state) benchmark::DoNotOptimize(allot::WaterFillingShares(problem).objective);
}
void BM_MaxMinPacked(benchmark::State& state) {
  const allot::PackedProblem problem = Jobs(state.range(0), false);
  for (auto _ : state) benchmark::DoNotOptimize(allot::MaxMinPacked(problem).objective);
}
void BM_MakespanPacked(benchmark::State& state) {
  const allot::PackedProblem problem = Jobs(state.range(0), false);
  const std::vector<double> work = Work(problem.alone);
  for (auto _ : state) benchmark::DoNotOptimize(allot::MakespanPacked(problem, work).objective);
}
void BM_Allox(benchmark::State& state) {
  const allot::ShareProblem problem = Jobs(state.range(0), false).alone;
  const std::vector<double> work = Work(problem);
  std::vector<std::int32_t> machines;
  for (const double capacity : problem.capacity) {
    machines.push_back(static_cast<std::int32_t>(capacity));
  }
  std::vector<double> seconds;
  for (std::size_t v = 0; v < problem.rate.size(); ++v) {
    seconds.push_back(work[v / kTypes] / problem.rate[v]);
  }
  for (auto _ : state) benchmark::DoNotOptimize(allot::PlanQueues(machines, seconds).cost);
}

// Half as many GPUs as jobs; jobs of one GPU, of weights from 1/e to e.
void BM_PairAssignment(benchmark::State& state, bool running) {
  const allot::PackedProblem problem = Jobs(state.range(0), false);
  const std::size_t jobs = problem.alone.jobs();
  const std::vector<std::int32_t> capacity(kTypes, static_cast<std::int32_t>(jobs / 2 / kTypes));
  const std::vector<std::int32_t> gpus(jobs, 1);
  std::vector<double> values;
  allot::Rng rng(5, "weights");
  for (std::size_t i = 0; i < jobs; ++i) {
    const auto rates = problem.alone.rates(i);
    const double weight =
        std::exp(rng.Uniform(-1, 1)) / *std::max_element(rates.begin(), rates.end());
    for (std::size_t g = 0; g < kTypes; ++g) values.push_back(rates[g] * weight);
  }
  const auto models = Models();
  std::vector<double> beside = problem.beside;
  for (std::size_t at = 0; at < beside.size(); ++at) {
    beside[at] /= models[at / kTypes / kModels][at % kTypes];
  }
  std::vector<std::int32_t> on(jobs, allot::kWaits);
  std::vector<std::int32_t> partner(jobs, -1);
  const std::vector<double> stay(jobs, 1);
  allot::PairAssigner assigner;
  const auto solve = [&] {
    assigner.Solve(
        {{capacity, gpus, values, 0}, on, partner, stay, problem.kind, problem.kinds, beside});
    return assigner.value();
  };
  if (running) {
    solve();
    on.assign(assigner.types().begin(), assigner.types().end());
    partner.assign(assigner.partners().begin(), assigner.partners().end());
  }
  for (auto _ : state) benchmark::DoNotOptimize(solve());
}

void Sizes(benchmark::internal::Benchmark* bench) {
  for (const int jobs : {32, 256, 1024, 10000}) bench->Arg(jobs);
  bench->Unit(benchmark::kMillisecond);
}
void SmallSizes(benchmark::internal::Benchmark* bench) {
  for (const int jobs : {32, 256, 1024}) bench->Arg(jobs);
  bench->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(BM_MaxMin, classes, false)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_MaxMin, mixed, true)->Apply(Sizes);
BENCHMARK(BM_MaxMinBlocks)->Name("BM_MaxMin/jobs")->Apply(Sizes);
BENCHMARK(BM_Makespan)->Name("BM_Makespan/jobs")->Apply(Sizes);
BENCHMARK(BM_MaxSum)->Name("BM_MaxSum/mixed")->Apply(Sizes);
BENCHMARK(BM_FinishTime)->Name("BM_FinishTime/jobs")->Apply(Sizes);
BENCHMARK(BM_WaterFilling)->Name("BM_WaterFilling/mixed")->Apply(Sizes);
BENCHMARK(BM_MaxMinPacked)->Name("BM_MaxMinPacked/classes")->Apply(SmallSizes);
BENCHMARK(BM_MakespanPacked)
    ->Name("BM_MakespanPacked/jobs")
    ->Arg(32)
    ->Arg(64)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PairAssignment, first, false)
    ->Arg(100)
    ->Arg(200)
    ->Arg(400)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PairAssignment, running, true)
    ->Arg(100)
    ->Arg(200)
    ->Arg(400)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Allox)->Name("BM_Allox/jobs")->Apply(SmallSizes);

}  // namespace
