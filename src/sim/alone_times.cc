#include "sim/alone_times.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/index.h"
#include "perf/configuration_key.h"
#include "sim/training_run.h"

namespace allot {
namespace {

constexpr Seconds kWholeRun = 1e9;  // of a run

}  // namespace

Seconds AloneTimes::Play(JobIndex job, const GpuTypeSpec& type, GpuCount gpus) const {
  const ApplicationModel& model = *scenario_.facts(job).application();
  const ApplicationOnType* const on = model.application()->On(type.name);
  if (on == nullptr || gpus % on->stages != 0) return kUnknown;
  const std::vector<UnitCounts> nodes = FewestNodes(gpus, type.node_gpus, {1, Span::kAny});
  const auto choose = [&model](const RunShape& shape, std::int32_t epoch) {
    return model.Choose(shape, epoch);
  };
  if (!(model.Choose({type.name, nodes, {}}, 0).rate > 0)) return kUnknown;
  const SimOptions& options = scenario_.options();
  TrainingRun run(model, options.training);
  try {
    run.Place(type.name, nodes, choose);
    const Seconds restart = options.training.first_start ? scenario_.RestartCostOf(job) : 0;
    return restart + run.Advance(kWholeRun, options.speedup, choose, nullptr);
  } catch (const Error&) {  // not measured there
    return kUnknown;
  }
}

Seconds AloneTimes::OnWhole(JobIndex job, GpuCount gpus) {
  const ApplicationModel* const model = scenario_.facts(job).application();
  double sum = 0;
  double weights = 0;
  for (std::size_t type = 0; type < specs_.size(); ++type) {
    Seconds time = kUnknown;
    for (GpuCount fewer = gpus; fewer > 0 && !(time > 0); --fewer) {
      const auto [known, is_new] = known_.try_emplace({model, type, fewer}, kUnknown);
      if (is_new) known->second = Play(job, specs_[type], fewer);
      time = known->second;
    }
    if (!(time > 0)) continue;
    sum += time * specs_[type].gpus;
    weights += specs_[type].gpus;
  }
  return weights > 0 ? sum / weights : kUnknown;
}

Seconds AloneTimes::Of(JobIndex job, double gpus) {
  const Scenario::JobFacts& facts = scenario_.facts(job);
  if (facts.application() == nullptr) return kUnknown;
  const Job& asked = scenario_.workload().jobs[At(job)];
  const auto least = static_cast<double>(asked.lowest());
  if (asked.rigid() || gpus <= least) {
    const Seconds time = OnWhole(job, static_cast<GpuCount>(least));
    return gpus < least ? time * least / gpus : time;
  }
  const auto below = static_cast<GpuCount>(gpus);
  const Seconds time = OnWhole(job, below);
  const double beyond = gpus - below;
  return beyond > 0 ? time + beyond * (OnWhole(job, below + 1) - time) : time;
}

}  // namespace allot
