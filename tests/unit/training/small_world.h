#pragma once
// Small worlds for the training tests: a few dozen jobs on two nodes, drawn by seed.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/rng.h"
#include "envs/episodes.h"
#include "perf/elastic.h"
#include "sim/scenario.h"

namespace allot {

inline std::shared_ptr<const Scenario> SmallScenario(std::uint64_t seed, int jobs = 24,
                                                     std::string_view cluster = "2x4") {
  Rng rng(seed, "small-world");
  Workload workload;
  workload.name = "small";
  Seconds submit = 0;
  for (int i = 0; i < jobs; ++i) {
    Job job;
    job.id = "job-" + std::to_string(i);
    job.submit = submit;
    job.gpus = static_cast<GpuCount>(1 << rng.Below(3));
    job.duration = 300 + rng.Exponential(3000);
    workload.jobs.push_back(std::move(job));
    submit += rng.Exponential(600);
  }
  workload.Finish();
  MakeElastic({.seed = seed}, Catalogue::Embedded(), &workload);
  SimOptions options;
  options.lengths = LengthEstimates::Parse("true");
  return std::make_shared<const Scenario>(std::move(workload), ClusterSpec::Parse(cluster),
                                          options);
}

// The jobs are all there at time 0: one contended decision.
inline std::shared_ptr<const Scenario> RushScenario(int jobs, std::string_view cluster,
                                                    bool elastic) {
  Workload workload;
  workload.name = "rush";
  for (int i = 0; i < jobs; ++i) {
    Job job;
    job.id = "job-" + std::to_string(i);
    job.gpus = 1;
    job.duration = 1000 + 100 * i;
    workload.jobs.push_back(std::move(job));
  }
  workload.Finish();
  if (elastic) MakeElastic({.seed = 5}, Catalogue::Embedded(), &workload);
  return std::make_shared<const Scenario>(std::move(workload), ClusterSpec::Parse(cluster),
                                          SimOptions{});
}

}  // namespace allot
