#include "sim/failed_starts.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Fifo;
using testing_support::ScenarioOf;
using testing_support::SmallJob;

constexpr Seconds kRepaired = 100000;

// Node 0 fails every start until it is repaired; no other start fails, but those of broken jobs.
class FirstNodeEats : public FaultLaw {
 public:
  explicit FirstNodeEats(double broken) : broken_(broken) {}
  std::vector<Outage> OutagesOf(std::uint64_t node, Seconds /*horizon*/,
                                std::uint64_t /*seed*/) const override {
    return node == 0 ? std::vector<Outage>{{0, kRepaired}} : std::vector<Outage>{};
  }
  double rate() const override { return 0; }
  std::optional<StartFaults> starts() const override {
    return StartFaults{.of_bad_node = 1, .broken_sessions = broken_, .repair = 7200};
  }

 private:
  double broken_;
};

ALLOT_REGISTER(FaultLawInfo,
               (FaultLawInfo{"first-node-eats",
                             "for tests",
                             {{"broken", "0", "share of broken sessions", 0, 1}},
                             [](const Params& params) {
                               return std::make_unique<FirstNodeEats>(params.Number("broken"));
                             }}));

SimOptions Under(const std::string& failures, const std::string& then = "") {
  SimOptions options;
  options.failures = failures;
  options.interval = 60;
  options.restart_cost = 0;
  options.decide_on_events = true;
  if (!then.empty()) {
    options.rules = std::make_shared<const OperatorRules>(
        OperatorRules::Parse(fmt::format("[failures]\nthen = \"{}\"", then), "rules.toml"));
  }
  return options;
}

std::vector<SmallJob> Jobs(int count) {
  std::vector<SmallJob> jobs;
  jobs.reserve(static_cast<std::size_t>(count));
  for (int job = 0; job < count; ++job) jobs.push_back({.submit = 400.0 * job, .duration = 350});
  return jobs;
}

RunOutcome Play(const Scenario& scenario) {
  return RunPolicy(scenario, *Fifo(), {}, {}, {.note_allocations = true});
}

std::size_t FinishedIn(const RunOutcome& outcome) {
  return static_cast<std::size_t>(std::ranges::count_if(
      outcome.records, [](const JobRecord& record) { return record.finish < kNever; }));
}

TEST(FailedStartsTest, FailedJobRunsOnAnotherNode) {
  const RunOutcome outcome = Play(ScenarioOf({{.duration = 500}}, "4x1", Under("first-node-eats")));
  ASSERT_TRUE(outcome.starts.has_value());
  EXPECT_EQ(*outcome.starts, (StartFigures{.failed = 1, .on_bad_nodes = 1, .bad_nodes = 1}));
  ASSERT_EQ(outcome.notes.size(), 3U) << "it starts, waits, and starts again";
  EXPECT_EQ(outcome.notes[0].nodes[0].node, 0);
  EXPECT_NE(outcome.notes[2].nodes[0].node, 0);
  EXPECT_DOUBLE_EQ(outcome.records[0].finish, outcome.notes[2].time + 500) << "no work was done";
}

TEST(FailedStartsTest, NodeThatFailsJobsIsAvoided) {
  const RunOutcome outcome = Play(ScenarioOf(Jobs(40), "4x1", Under("first-node-eats")));
  EXPECT_EQ(outcome.starts->found, 1);
  EXPECT_LE(outcome.starts->until_found, 7);
  EXPECT_EQ(outcome.starts->false_alarms, 0);
  EXPECT_EQ(FinishedIn(outcome), 40U);
}

TEST(FailedStartsTest, NodeThatIsOnlyNamedFailsMoreJobs) {
  const RunOutcome named = Play(ScenarioOf(Jobs(40), "4x1", Under("first-node-eats", "tell")));
  const RunOutcome avoided = Play(ScenarioOf(Jobs(40), "4x1", Under("first-node-eats", "avoid")));
  EXPECT_EQ(named.starts->found, 1);
  EXPECT_EQ(named.starts->until_found, avoided.starts->until_found);
  EXPECT_GT(named.starts->failed, avoided.starts->failed);
}

TEST(FailedStartsTest, DrainedNodeIsBackAfterItsRepair) {
  const Scenario scenario = ScenarioOf(Jobs(300), "4x1", Under("first-node-eats", "drain"));
  const RunOutcome outcome = Play(scenario);
  std::set<std::int32_t> before;
  for (const TimelinePoint& point : outcome.timeline) {
    if (point.time > kRepaired / 2 && point.time < kRepaired) before.insert(point.nodes);
  }
  EXPECT_EQ(before, std::set<std::int32_t>{3});
  EXPECT_EQ(outcome.timeline.back().nodes, 4);
  EXPECT_EQ(outcome.starts->failed, outcome.starts->until_found);
}

TEST(FailedStartsTest, BrokenJobIsGivenUpAndBlamesNoNode) {
  std::vector<SmallJob> jobs = Jobs(10);
  const RunOutcome outcome =
      Play(ScenarioOf(jobs, "8x1", Under("eaters:between=1000000d,broken=1,chance=0")));
  EXPECT_EQ(*outcome.starts, (StartFigures{.failed = 60, .given_up = 10}));
  EXPECT_EQ(FinishedIn(outcome), 0U);
  EXPECT_EQ(outcome.timeline.back().active, 0) << "they are over";
}

TEST(FailedStartsTest, GangThatNeedsBadNodeIsGivenUp) {
  const RunOutcome outcome =
      Play(ScenarioOf({{.gpus = 4, .duration = 500}, {.submit = 10, .duration = 500}}, "4x1",
                      Under("first-node-eats")));
  EXPECT_EQ(outcome.records[0].finish, kNever) << "six failures on nodes that nobody else accuses";
  EXPECT_EQ(outcome.starts->good_given_up, 1);
  EXPECT_LT(outcome.records[1].finish, kNever);
}

TEST(FailedStartsTest, WithoutFaultsNothingChanges) {
  const std::vector<SmallJob> jobs = Jobs(20);
  const auto text = [&](const SimOptions& options) {
    return testing_support::TextOf(Play(ScenarioOf(jobs, "2x1", options)).records);
  };
  EXPECT_EQ(text(Under("eaters:between=1000000d,broken=0,chance=0")), text(Under("")));
}

TEST(FailedStartsTest, PlansAreTheSameForAllPolicies) {
  const Scenario scenario =
      ScenarioOf(Jobs(200), "4x1", Under("eaters:between=1d,broken=0.3,chance=0.01"));
  const Scenario again =
      ScenarioOf(Jobs(200), "4x1", Under("eaters:between=1d,broken=0.3,chance=0.01"));
  int broken = 0;
  for (JobIndex job = 0; job < 200; ++job) {
    broken += scenario.start_plan()->IsBroken(job);
    EXPECT_EQ(scenario.start_plan()->FailsAfter(job, 1, 1),
              again.start_plan()->FailsAfter(job, 1, 1));
  }
  EXPECT_NEAR(broken, 60, 25);
}

TEST(FailedStartsTest, BadInputNamesRuleAndValue) {
  ExpectError(ExitCode::kUsage, {"'fails'", "2"}, [] { MakeFaultLaw("eaters:fails=2"); });
  ExpectError(ExitCode::kUsage, {"'broken'", "-1"}, [] { MakeFaultLaw("eaters:broken=-1"); });
  ExpectError(ExitCode::kUsage, {"whole rounds", "'eaters'"}, [] {
    SimOptions options = Under("eaters");
    options.whole_rounds = true;
    (void)ScenarioOf({{.duration = 10}}, "1x1", options);
  });
}

}  // namespace
}  // namespace allot
