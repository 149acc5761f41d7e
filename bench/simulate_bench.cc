// Whole simulations: a week of the embedded Philly trace at 0.9 of 8x8 GPUs, from the first to the
// last job. per_decision is the run's time over its decisions (simulator and policy);
// policy_us_p50 the median of the policy's own share.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "perf/elastic.h"
#include "sim/run.h"
#include "workload/sample.h"
#include "workload/trace_reader.h"

namespace {

const allot::Scenario& Week() {
  static const allot::Scenario scenario = [] {
    const allot::ClusterSpec cluster = allot::ClusterSpec::Parse("8x8");
    allot::SampleOptions sample;
    sample.to = 7 * 86400.0;
    sample.gpus_capacity = cluster.total().gpus;
    sample.load = 0.9;
    sample.max_gpus = cluster.total().gpus;
    allot::Workload week = allot::Sample(allot::ReadTrace("embedded"), sample);
    allot::MakeElastic({}, allot::Catalogue::Embedded(), &week);
    return allot::Scenario(std::move(week), cluster, {});
  }();
  return scenario;
}

void BM_Simulate(benchmark::State& state, const std::string& policy) {
  const allot::Scenario& week = Week();
  std::int64_t decisions = 0;
  std::vector<float> decision_us;
  for (auto _ : state) {
    const auto object = allot::MakePolicy(policy);
    allot::RunOutcome outcome = allot::RunPolicy(week, *object);
    decisions += outcome.drive.decisions;
    decision_us = std::move(outcome.drive.decision_us);
  }
  state.counters["decisions"] =
      static_cast<double>(decisions) / static_cast<double>(state.iterations());
  state.counters["per_decision"] = benchmark::Counter(
      static_cast<double>(decisions), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  if (!decision_us.empty()) {
    const auto middle = decision_us.begin() + static_cast<std::ptrdiff_t>(decision_us.size() / 2);
    std::nth_element(decision_us.begin(), middle, decision_us.end());
    state.counters["policy_us_p50"] = static_cast<double>(*middle);
  }
}
BENCHMARK_CAPTURE(BM_Simulate, fifo, "fifo")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Simulate, las, "las")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Simulate, srtf, "srtf")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Simulate, optimus, "optimus")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Simulate, index, "index")->Unit(benchmark::kMillisecond);

}  // namespace
