#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "cluster/event_finder.h"
#include "sim/scenario.h"
#include "sim/simulated_cluster.h"
#include "tests/unit/sim/random_run.h"

namespace allot {
namespace {

using testing_support::AnyAllocation;
using testing_support::AnyScenario;

std::vector<JobIndex> JobsOf(const std::vector<EndedJob>& ended) {
  std::vector<JobIndex> jobs;
  jobs.reserve(ended.size());
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
