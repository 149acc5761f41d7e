// Environment throughput on one core with random actions: sequence steps with 20 jobs in the
// system, index decisions in a week of Philly, and what a second thread adds to a vector env. Each
// step includes writing the observation.

#include <benchmark/benchmark.h>

#include "core/rng.h"
#include "envs/cluster_env.h"
#include "envs/vector_env.h"
#include "workload/trace_reader.h"

namespace {

// Twenty elastic jobs that are all there from the start, on 16 nodes of 4 GPUs.
allot::EpisodeSource TwentyJobs() {
  allot::Workload workload;
  workload.name = "twenty";
  allot::Rng rng(1, "bench");
  for (int i = 0; i < 20; ++i) {
    allot::Job job;
    job.id = std::to_string(i);
    job.gpus = 1 << rng.Below(4);
    job.duration = 100 * 3600.0;
    workload.jobs.push_back(job);
  }
  workload.Finish();
  allot::MakeElastic({}, allot::Catalogue::Embedded(), &workload);
  auto scenario = std::make_shared<const allot::Scenario>(
      std::move(workload), allot::ClusterSpec::Parse("16x4"), allot::SimOptions{});
  return [scenario](std::uint64_t) { return scenario; };
}

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

struct Buffers {
  explicit Buffers(const allot::EnvSpec& spec)
      : jobs(Size(spec, 0)),
        context(Size(spec, 1)),
        job_mask(Size(spec, 2)),
        granted(Size(spec, 3)),
        action_mask(Size(spec, 4)) {}
  static std::size_t Size(const allot::EnvSpec& spec, std::size_t tensor) {
    return static_cast<std::size_t>(spec.observation[tensor].elements());
  }
  allot::ObservationView view() { return {jobs, context, job_mask, granted, action_mask}; }
  std::vector<float> jobs;
  std::vector<float> context;
  std::vector<std::uint8_t> job_mask;
  std::vector<float> granted;
  std::vector<std::uint8_t> action_mask;
};

void BM_SequenceStep(benchmark::State& state) {
  allot::ClusterEnv env(TwentyJobs(), Options(allot::ActionMode::kSequence, 20));
  Buffers buffers(env.spec());
  allot::Rng rng(1, "actions");
  env.Reset(0);
  env.Observe(buffers.view());
  std::int64_t decisions = 0;
  for (auto _ : state) {
    // A random unit while one is legal, then "done".
    const std::size_t done = buffers.action_mask.size() - 1;
    const std::size_t start = rng.Below(done);
    std::size_t chosen = done;
    for (std::size_t i = 0; i < done && chosen == done; ++i) {
      if (buffers.action_mask[(start + i) % done] == 1) chosen = (start + i) % done;
    }
    const auto action = static_cast<float>(chosen);
    const allot::StepResult result = env.Step(std::span(&action, 1));
    if (result.info.decided) ++decisions;
    if (result.terminated || result.truncated) env.Reset(0);
    env.Observe(buffers.view());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["decisions"] =
      benchmark::Counter(static_cast<double>(decisions), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_SequenceStep);

void BM_IndexDecision(benchmark::State& state) {
  allot::ClusterEnv env(Weeks(), Options(allot::ActionMode::kIndex, 128));
  Buffers buffers(env.spec());
  allot::Rng rng(1, "actions");
  std::vector<float> scores(static_cast<std::size_t>(env.spec().action.elements()));
  for (float& score : scores) score = static_cast<float>(rng.Normal());
  env.Reset(0);
  double jobs = 0;
  for (auto _ : state) {
    const allot::StepResult result = env.Step(scores);
    jobs += result.info.active_jobs;
    if (result.terminated || result.truncated) env.Reset(std::nullopt);
    env.Observe(buffers.view());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["mean_jobs"] = jobs / static_cast<double>(state.iterations());
}
BENCHMARK(BM_IndexDecision)->Unit(benchmark::kMicrosecond);

void BM_VectorIndexStep(benchmark::State& state) {
  constexpr std::int64_t kEnvs = 32;
  const allot::EpisodeSource weeks = Weeks();
  allot::VectorEnv env(
      kEnvs,
      [&](std::int64_t) {
        return std::make_unique<allot::ClusterEnv>(weeks, Options(allot::ActionMode::kIndex, 128));
      },
      static_cast<int>(state.range(0)));
  allot::Rng rng(1, "actions");
  std::vector<float> scores(static_cast<std::size_t>(kEnvs * env.spec().single.action.elements()));
  for (float& score : scores) score = static_cast<float>(rng.Normal());
  env.Reset(0);
  for (auto _ : state) env.Step(scores);
  state.SetItemsProcessed(state.iterations() * kEnvs);
}
BENCHMARK(BM_VectorIndexStep)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
