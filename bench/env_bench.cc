// What an index decision costs in a week of Philly, the observation included. Sequence steps and
// vectors of environments: `allot bench simulate --env`.

#include <benchmark/benchmark.h>

#include "core/rng.h"
#include "envs/cluster_env.h"
#include "workload/trace_reader.h"

namespace {

// Weeks of the embedded trace at 0.9 of 8x8 GPUs; each is made once.
allot::EpisodeSource Weeks() {
  static const allot::Workload trace = allot::ReadTrace("embedded");
  allot::WindowOptions window;
  window.weekly = true;
  window.loads = {0.9};
  const allot::EpisodeSource source =
      allot::WindowEpisodes(trace, allot::ClusterSpec::Parse("8x8"), window);
  const std::vector<std::shared_ptr<const allot::Scenario>> weeks = {source(0), source(1)};
  return [weeks](std::uint64_t seed) { return weeks[seed % weeks.size()]; };
}

allot::ClusterEnvOptions Options(allot::ActionMode mode, int max_jobs) {
  allot::ClusterEnvOptions options;
  options.mode = mode;
  options.max_jobs = max_jobs;
  return options;
}

void BM_IndexDecision(benchmark::State& state) {
  allot::ClusterEnv env(Weeks(), Options(allot::ActionMode::kIndex, 128));
  allot::ObservationBuffer buffer(env.spec());
  const allot::ObservationView view = buffer.Row(0);
  allot::Rng rng(1, "actions");
  std::vector<float> scores(static_cast<std::size_t>(env.spec().action.elements()));
  for (float& score : scores) score = static_cast<float>(rng.Normal());
  env.Reset(0);
  double jobs = 0;
  for (auto _ : state) {
    const allot::StepResult result = env.Step(scores);
    jobs += result.info.active_jobs;
    if (result.terminated || result.truncated) env.Reset(std::nullopt);
    env.Observe(view);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["mean_jobs"] = jobs / static_cast<double>(state.iterations());
}
BENCHMARK(BM_IndexDecision)->Unit(benchmark::kMicrosecond);

}  // namespace
