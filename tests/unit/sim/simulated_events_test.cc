#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "cluster/event_finder.h"
#include "core/rng.h"
#include "sim/scenario.h"
#include "sim/simulated_cluster.h"

namespace allot {
namespace {

Scenario AnyScenario(std::uint64_t seed, bool nodes_fail) {
  Rng rng(seed, "simulated-events");
  Workload workload;
  workload.name = "any";
  for (int i = 0; i < 60; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.submit = static_cast<double>(rng.Below(20000));
    job.duration = 100 + static_cast<double>(rng.Below(5000));
    job.gpus = 1 + static_cast<GpuCount>(rng.Below(4));
    workload.jobs.push_back(job);
  }
  workload.Finish();
  SimOptions options;
  if (nodes_fail) options.failures = {.mean_between = 20000, .mean_repair = 2000};
  options.seed = seed;
  return Scenario(std::move(workload), ClusterSpec::Parse("4x4"), options);
}

// Some of the jobs on the first GPUs that are free for them.
Allocation AnyAllocation(const Observation& o, Rng* rng) {
  FreeMap free(*o.cluster);
  Allocation allocation;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const auto r = static_cast<std::size_t>(row);
    if (rng->Below(5) == 0) continue;
    const GpuCount gpus = (*o.table[r])[o.requested[r]].demand.gpus;
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(o.cluster->nodes().size()); ++node) {
      if (free.free_gpus(node) < gpus || rng->Below(8) == 0) continue;
      NodeShare share{node, {static_cast<std::int16_t>(gpus), 0}, free.Take(node, {gpus, 0})};
      allocation.Add(o.job[r], o.requested[r], std::span(&share, 1));
      break;
    }
  }
  return allocation;
}

std::vector<JobIndex> JobsOf(const std::vector<EndedJob>& ended) {
  std::vector<JobIndex> jobs;
  for (const EndedJob& each : ended) jobs.push_back(each.job);
  return jobs;
}

// What the simulator tells is what a comparison of its observations finds, but exactly.
TEST(SimulatedEvents, AreWhatHasHappened) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Scenario scenario = AnyScenario(seed, seed % 2 == 0);
    SimulatedCluster cluster(scenario);
    EventFinder finder;
    Rng rng(seed, "decisions");
    std::set<JobIndex> ended;
    bool more = true;
    while (more) {
      Observation found = cluster.Observe();
      finder.Find(&found);
      const Events& told = cluster.Observe().events;
      ASSERT_EQ(told.number, found.events.number);
      ASSERT_EQ(told.arrived, found.events.arrived);
      ASSERT_EQ(JobsOf(told.ended), JobsOf(found.events.ended));
      ASSERT_TRUE(std::includes(told.changed.begin(), told.changed.end(),
                                found.events.changed.begin(), found.events.changed.end()));
      for (const EndedJob& each : told.ended) {
        const auto job = static_cast<std::size_t>(each.job);
        const JobRecord& record = cluster.records()[job];
        ASSERT_EQ(each.end, record.finish);
        ASSERT_EQ(each.gpu_seconds, record.gpu_seconds);
        ASSERT_EQ(each.work, scenario.facts(each.job).work);
        ASSERT_DOUBLE_EQ(each.requested_seconds(), scenario.workload().jobs[job].duration);
        ASSERT_TRUE(ended.insert(each.job).second) << "job " << each.job << " ended twice";
      }
      ASSERT_TRUE(cluster.Apply(AnyAllocation(cluster.Observe(), &rng)).refused.ok());
      more = cluster.WaitForChange(0);
    }
    // The last ends are told to whoever looks once more.
    for (const EndedJob& each : cluster.Observe().events.ended) ended.insert(each.job);
    ASSERT_EQ(ended.size(), scenario.workload().jobs.size());
  }
}

}  // namespace
}  // namespace allot
