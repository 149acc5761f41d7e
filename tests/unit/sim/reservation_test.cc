// What EASY promises over time: the head of the line starts no later than the estimates of those
// that run said when it became the head, whatever is backfilled behind it. By true lengths.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/rng.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::ScenarioOf;
using testing_support::SmallJob;
using testing_support::Staged;

// For every job that was ever the head of the line: the earliest time that was said.
class ShadowTimes : public DecisionListener {
 public:
  void OnDecision(const Observation& o, const Allocation& allocation) override {
    std::vector<std::pair<Seconds, GpuCount>> ends;
    std::vector<JobIndex> runs;
    GpuCount free = o.cluster->total().gpus;
    for (const Allocation::Entry& entry : allocation.entries()) {
      const auto r = static_cast<std::size_t>(std::find(o.job.begin(), o.job.end(), entry.job) -
                                              o.job.begin());
      const Configuration& given = (*o.table[r])[entry.configuration];
      ends.emplace_back(o.now + (o.estimated_work[r] - o.done_work[r]) / given.rate,
                        given.demand.gpus);
      runs.push_back(entry.job);
      free -= given.demand.gpus;
    }
    for (std::size_t r = 0; r < o.job.size(); ++r) {  // rows are in order of submission
      if (std::find(runs.begin(), runs.end(), o.job[r]) != runs.end()) continue;
      const GpuCount wanted = (*o.table[r])[o.requested[r]].demand.gpus;
      std::sort(ends.begin(), ends.end());
      Seconds at = o.now;
      for (std::size_t e = 0; e < ends.size() && free < wanted; ++e) {
        at = ends[e].first;
        free += ends[e].second;
      }
      const auto said = earliest.try_emplace(o.job[r], at).first;
      said->second = std::min(said->second, at);
      return;
    }
  }

  std::map<JobIndex, Seconds> earliest;
};

// How many heads of lines started after the first decision past their earliest shadow time.
int LateHeads(const std::string& sizing, int* heads) {
  int late = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed, "line");
    std::vector<SmallJob> jobs;
    Seconds submit = 0;
    for (int i = 0; i < 60; ++i) {
      submit += rng.Exponential(700);
      jobs.push_back(
          {submit, static_cast<GpuCount>(1 + rng.Below(8)), 100 + rng.Exponential(2500)});
    }
    SimOptions options;
    options.lengths = LengthEstimates::Parse("true");
    const Scenario scenario = ScenarioOf(jobs, "2x4", options);
    ShadowTimes shadows;
    DecisionListener* const listeners[] = {&shadows};
    const RunOutcome outcome =
        RunPolicy(scenario, *Staged({.ordering = "submit", .sizing = sizing}), listeners);
    *heads += static_cast<int>(shadows.earliest.size());
    for (const auto& [job, at] : shadows.earliest) {
      const Seconds next = std::ceil(at / options.interval - 1e-6) * options.interval;
      late += outcome.records[static_cast<std::size_t>(job)].first_start > next + 1 ? 1 : 0;
    }
  }
  return late;
}

TEST(ReservationOverTimeTest, BackfillDelaysNoHeadOfTheLine) {
  int heads = 0;
  EXPECT_EQ(LateHeads("reservation", &heads), 0);
  EXPECT_GT(heads, 500);
}

TEST(ReservationOverTimeTest, PlainBackfillDoes) {
  int heads = 0;
  EXPECT_GT(LateHeads("requested", &heads), 50);
}

}  // namespace
}  // namespace allot
