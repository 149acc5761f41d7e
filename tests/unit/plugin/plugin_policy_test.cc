#include "plugin/plugin_policy.h"

#include <gtest/gtest.h>

#include "perf/dl2_job_types.h"
#include "sim/profile.h"
#include "tests/conformance/random_world.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// Two kinds of units, configurations past the limits, CPUs, some whose rate is not positive.
Scenario WorkersAndServers() {
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", "dl2").apply(&options);
  Workload workload;
  workload.name = "workers and servers";
  Rng rng(1, "plugin-policy");
  for (int i = 0; i < 12; ++i) {
    Job job;
    job.id = fmt::format("job{}", i);
    job.submit = 400.0 * i;
    job.model = workload.models.Intern(Dl2JobTypes()[rng.Below(8)].model);
    job.gpus = job.min_gpus = 1;
    job.max_gpus = 6;
    job.duration = options.interval * (1 + rng.Exponential(10));
    workload.jobs.push_back(job);
  }
  workload.Finish();
  ClusterSpec cluster;
  cluster.AddNodes(6, {.gpus = 8, .cpus = 8}, "gpu");
  return Scenario(std::move(workload), std::move(cluster), options, Dl2Catalogue());
}

TEST(PluginPolicyTest, DecidesTheSameOverWorkersAndServers) {
  const Scenario scenario = WorkersAndServers();
  for (const char* spec : {"drf", "optimus", "index:alpha=0.5"}) {
    const auto policy = MakePolicy(spec);
    const auto twin = MakePluginPolicy("", spec);
    testing_support::TwinCheck check(twin.get(), policy.get());
    DecisionListener* const listeners[] = {&check};
    RunPolicy(scenario, *policy, listeners);
    EXPECT_GT(check.decisions(), 5) << spec;
    if (HasFailure()) return;
  }
}

TEST(PluginPolicyTest, DrivesAClusterByItself) {
  const Scenario scenario = WorkersAndServers();
  const auto records = RunPolicy(scenario, *MakePolicy("las")).records;
  const auto through = RunPolicy(scenario, *MakePluginPolicy("", "las")).records;
  for (std::size_t job = 0; job < records.size(); ++job) {
    EXPECT_EQ(through[job].finish, records[job].finish) << job;
  }
}

TEST(PluginPolicyTest, WhatTheLibraryRefusesComesWithItsCodeAndWords) {
  ExpectError(ExitCode::kUsage, {"unknown policy 'lass'", "did you mean"},
              [] { MakePluginPolicy("", "lass"); });
  ExpectError(ExitCode::kBadData, {"/no/such"},
              [] { MakePluginPolicy("", "learned:checkpoint=/no/such"); });
  const auto policy = MakePluginPolicy("", "las");
  testing_support::World world("1x4");
  world.o.interval = 0;
  Allocation allocation;
  ExpectError(ExitCode::kBadData, {"'interval' must be > 0"},
              [&] { policy->Decide(world.o, &allocation); });
}

TEST(PluginPolicyTest, ALibraryThatIsNoneIsRefused) {
  ExpectError(ExitCode::kUsage, {"cannot load '/no/such.so'"},
              [] { MakePluginPolicy("/no/such.so", "las"); });
  ExpectError(ExitCode::kUsage, {"is no plugin: it has no 'allot_plugin_version'"},
              [] { MakePluginPolicy("libz.so.1", "las"); });
}

}  // namespace
}  // namespace allot
