#include "sim/speed_levels.h"

#include "core/index.h"
#include "perf/speed_prior.h"

namespace allot {

std::vector<std::string> SpeedLevelsOf(const Scenario& scenario, JobIndex job) {
  const Workload& workload = scenario.workload();
  const Job& asked = workload.jobs[At(job)];
  const auto name = [](const NameTable& names, std::int32_t index) {
    return index < 0 ? std::string() : names[index];
  };
  return SpeedPrior::LevelsOf(asked.gpus, name(workload.users, asked.user),
                              name(workload.groups, asked.group),
                              name(workload.models, asked.model));
}

void FitMeasured(const Application& application, const std::vector<GpuTypeSpec>& types,
                 TimingFits* fits) {
  for (const GpuTypeSpec& type : types) {
    const ApplicationOnType* on = application.On(type.name);
    if (on == nullptr) continue;
    for (const GpuCount gpus : {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64}) {
      const std::vector<UnitCounts> nodes = FewestNodes(gpus, type.node_gpus, {1, Span::kAny});
      if (nodes.empty() || gpus > type.gpus) continue;
      for (const double share : {0.0, 0.5, 1.0}) {
        const double batch =
            on->limits.least_local + share * (on->limits.most_local - on->limits.least_local);
        const StepTime time = on->times.TimeAt(nodes, static_cast<std::int32_t>(batch));
        if (!time.known() || !(time.gradient() > 0)) continue;
        fits->Observe(type.name, static_cast<std::int32_t>(nodes.size()),
                      {nodes.size() > 1, gpus, static_cast<double>(static_cast<int>(batch)),
                       time.gradient(), time.step});
      }
    }
  }
}

}  // namespace allot
