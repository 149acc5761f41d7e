// The rules of the simulated world that profiles set, each on a case worked out by hand; and what a
// policy's promise that its answer holds may not change.

#include <gtest/gtest.h>

#include <utility>

#include "core/rng.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Jcts;
using testing_support::ScenarioOf;
using testing_support::SmallJob;
using testing_support::Staged;
using testing_support::TextOf;
using Times = std::vector<Seconds>;

SimOptions WholeIntervals() {
  SimOptions options;
  options.restart_cost = 0;
  options.charge_whole_intervals = true;
  return options;
}

// Strict order, head of line blocks, running jobs are stopped from the end of the order.
std::unique_ptr<Policy> Strict(const std::string& ordering, const std::string& search = "first-fit",
                               const std::string& guard = "0") {
  const PolicyInfo info = StagedPolicyInfo("strict", "for tests", {.ordering = ordering});
  return info.make(Params("policy 'strict'", info.params,
                          {{"sizing", "requested/within-capacity=false"},
                           {"placement", search + "/victims=true"},
                           {"max-wait", guard}}));
}

TEST(WholeIntervalsTest, AJobEndsAtTheEndOfItsLastInterval) {
  const Scenario scenario = ScenarioOf({{0, 1, 301}, {0, 1, 600}}, "1x2", WholeIntervals());
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Staged({.ordering = "submit"}))), (Times{600, 600}));
}

TEST(WholeIntervalsTest, RoundingAddsNoInterval) {
  // 0.1 has no exact double: 3 x 0.1 x 1000 s is a hair more than 300 s.
  const Scenario scenario = ScenarioOf({{0, 1, 3 * 0.1 * 1000}}, "1x1", WholeIntervals());
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Staged({.ordering = "submit"}))), (Times{300}));
}

TEST(SpeedupTest, JobsProgressFasterThanTheirRate) {
  SimOptions options;
  options.speedup = 4;
  const Scenario scenario = ScenarioOf({{0, 1, 1000}}, "1x1", options);
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Staged({.ordering = "submit"}))), (Times{250}));
  options.speedup = 0;
  ExpectError(ExitCode::kUsage, {"speed-up", "> 0", "got 0"}, [&] {
    ScenarioOf({{0, 1, 1000}}, "1x1", options);
  });
}

TEST(VictimsTest, TheHeadOfTheLineBlocksAllBehindIt) {
  // The second job does not fit beside the first; the third would, and waits all the same.
  const Scenario scenario =
      ScenarioOf({{0, 3, 600}, {0, 2, 300}, {0, 1, 300}}, "1x4", WholeIntervals());
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Strict("submit:preemptive=true"))), (Times{600, 900, 900}));
}

TEST(VictimsTest, RunningJobsAreStoppedFromTheEndOfTheOrder) {
  // Shortest first: at 300 s the new job of 2 GPUs stops the longest one, not the middle one.
  SimOptions options = WholeIntervals();
  options.lengths = LengthEstimates::Parse("true");
  const Scenario scenario = ScenarioOf({{0, 2, 900}, {0, 2, 1800}, {10, 2, 300}}, "1x4", options);
  const RunOutcome outcome = RunPolicy(scenario, *Strict("remaining"));
  EXPECT_EQ(Jcts(outcome), (Times{900, 2100, 590}));
  EXPECT_EQ(outcome.records[0].preemptions, 0);
  EXPECT_EQ(outcome.records[1].preemptions, 1);
}

TEST(VictimsTest, AStoppedJobThatFindsRoomElsewhereMoved) {
  // Jobs of 2 GPUs fill node 0 and half of node 1. When the first ends, a job of a whole node stops
  // the longest (on node 1), which then fits on node 0.
  SimOptions options = WholeIntervals();
  options.lengths = LengthEstimates::Parse("true");
  const Scenario scenario =
      ScenarioOf({{0, 2, 300}, {0, 2, 3000}, {0, 2, 2100}, {10, 4, 600}}, "2x4", options);
  const RunOutcome outcome = RunPolicy(scenario, *Strict("remaining", "consolidated"));
  EXPECT_EQ(outcome.records[1].moves, 1);
  EXPECT_EQ(outcome.records[1].preemptions, 0);
  EXPECT_EQ(outcome.records[1].launches(), 2);
  EXPECT_EQ(Jcts(outcome), (Times{300, 3000, 2100, 890}));
}

TEST(GuardTest, AJobThatWaitedTooLongGoesFirst) {
  // Shortest first starves the long job as long as short ones arrive; the guard lets it in at 900
  // s.
  std::vector<SmallJob> jobs = {{0, 1, 3000}};
  for (int i = 0; i < 20; ++i) jobs.push_back({300.0 * i, 1, 300});
  SimOptions options = WholeIntervals();
  options.lengths = LengthEstimates::Parse("true");
  const Scenario scenario = ScenarioOf(jobs, "1x1", options);
  EXPECT_EQ(RunPolicy(scenario, *Strict("remaining", "first-fit", "0")).records[0].first_start,
            6000);
  const RunOutcome guarded = RunPolicy(scenario, *Strict("remaining", "first-fit", "3000"));
  EXPECT_EQ(guarded.records[0].first_start, 3000);
  EXPECT_EQ(guarded.records[0].finish, 6000);  // for good: it is not stopped again
}

// ---- promises ----

// Without the side that promises, so that the policy is asked at every interval.
class Impatient : public Policy {
 public:
  explicit Impatient(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {}
  const PolicyInfo& info() const override { return policy_->info(); }
  void OnEpisodeStart(const EpisodeContext& context) override { policy_->OnEpisodeStart(context); }
  void Decide(const Observation& o, Allocation* allocation) override {
    policy_->Decide(o, allocation);
  }

 private:
  std::unique_ptr<Policy> policy_;
};

Scenario Crowd(std::uint64_t seed, SimOptions options) {
  Rng rng(seed, "crowd");
  std::vector<SmallJob> jobs;
  Seconds submit = 0;
  for (int i = 0; i < 60; ++i) {
    submit += rng.Exponential(900);
    jobs.push_back({submit, static_cast<GpuCount>(1 + rng.Below(4)), 100 + rng.Exponential(9000)});
  }
  return ScenarioOf(jobs, "2x4", std::move(options));
}

TEST(PromiseTest, AnAnswerThatHoldsIsTheAnswerThatWouldBeGiven) {
  const std::vector<StageSpecs> policies = {
      {.ordering = "attained"},
      {.ordering = "attained:service=seconds"},
      {.ordering = "attained:queues=3600|20000"},
      {.ordering = "attained:queues=3600|20000,promote=2"},
      {.ordering = "gittins"},
      {.ordering = "gittins-given-estimate"},
      {.ordering = "remaining"},
      {.ordering = "attained",
       .sizing = "requested:within-capacity=false",
       .placement = "first-fit:victims=true"},
      {.ordering = "remaining:basis=service",
       .sizing = "requested:within-capacity=false",
       .placement = "consolidated:victims=true"},
  };
  for (const StageSpecs& stages : policies) {
    std::int64_t asked = 0;
    std::int64_t asked_always = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SimOptions options;
      options.lengths = LengthEstimates::Parse(seed % 2 == 0 ? "noisy:1" : "true");
      const Scenario scenario = Crowd(seed, options);
      Impatient impatient(Staged(stages));
      const RunOutcome always = RunPolicy(scenario, impatient);
      const RunOutcome held = RunPolicy(scenario, *Staged(stages));
      asked += held.drive.decisions;
      asked_always += always.drive.decisions;
      for (std::size_t j = 0; j < held.records.size(); ++j) {
        ASSERT_NEAR(held.records[j].finish, always.records[j].finish, 1e-6)
            << stages.ordering << " with " << stages.placement << ", seed " << seed << ", job "
            << j;
        ASSERT_EQ(held.records[j].restarts, always.records[j].restarts)
            << stages.ordering << ", seed " << seed << ", job " << j;
      }
    }
    EXPECT_LT(asked, asked_always) << stages.ordering << " promises nothing";
  }
}

}  // namespace
}  // namespace allot
