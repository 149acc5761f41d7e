// What co-adaptive scheduling costs: the fit of a job's iteration times, by how many it has seen.

#include <benchmark/benchmark.h>

#include "core/rng.h"
#include "perf/goodput_fit.h"

namespace {

std::vector<allot::TimingObservation> Seen(std::int64_t count) {
  constexpr allot::StepTiming kTiming{0.1, 0.01, 0.8, 0.05, 0.2, 0.02, 2};
  allot::Rng rng(1, "observations");
  std::vector<allot::TimingObservation> seen;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto gpus = static_cast<allot::GpuCount>(1 + rng.Below(16));
    const bool several = gpus > 4 || (gpus > 1 && rng.Below(4) == 0);
    const auto batch = static_cast<double>(8 + rng.Below(56));
    const double noise = rng.Uniform(0.8, 1.25);
    seen.push_back({several, gpus, batch, noise * kTiming.Gradient(batch),
                    noise * kTiming.Iteration(several, gpus, batch, 0)});
  }
  return seen;
}

void BM_FitCold(benchmark::State& state) {
  const auto seen = Seen(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(allot::FitTiming(seen).loss);
}
void BM_FitWarm(benchmark::State& state) {
  auto seen = Seen(state.range(0) + 1);
  const allot::StepTiming before = allot::FitTiming(std::span(seen).first(seen.size() - 1)).timing;
  for (auto _ : state) benchmark::DoNotOptimize(allot::FitTiming(seen, &before).loss);
}

BENCHMARK(BM_FitCold)->Arg(1)->Arg(3)->Arg(10)->Arg(20)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_FitWarm)->Arg(10)->Arg(20)->Unit(benchmark::kMicrosecond);

}  // namespace
