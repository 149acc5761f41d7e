// Runs by shares of time without a mechanism (sim/ideal_run.h), each case worked out by hand.

#include "sim/ideal_run.h"

#include <gtest/gtest.h>

#include "stages/rounds/shared_policy.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Jcts;
using testing_support::ScenarioOf;
using testing_support::SmallJob;
using testing_support::WorkloadOf;
using Times = std::vector<Seconds>;

std::unique_ptr<Policy> Isolated(const std::string& ideal) {
  const PolicyInfo info = SharedPolicyInfo("shared", "for tests", {.sharing = "isolated"});
  return info.make(Params("policy 'shared'", info.params, {{"ideal", ideal}}));
}

// Always these shares, of rows that there are.
class FixedShares : public Policy, public SharesTime {
 public:
  explicit FixedShares(std::vector<TimeShare> shares) : shares_(std::move(shares)) {
    info_.id = "fixed";
  }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation&, Allocation*) override { FAIL() << "asked for a decision"; }
  SharesTime* ideal_shares() override { return this; }
  void ShareTime(const Observation& o, std::vector<TimeShare>* shares) override {
    shares->clear();
    for (const TimeShare& share : shares_) {
      if (share.row < o.rows() && share.partner_row < o.rows()) shares->push_back(share);
    }
  }

 private:
  PolicyInfo info_;
  std::vector<TimeShare> shares_;
};

// Jobs of one GPU with a rate of 2 on type a (configuration 0) and of 1 on type b.
Scenario OnTwoTypes(const std::vector<SmallJob>& jobs) {
  const std::vector<Configuration> two = {
      {.units = {1}, .gpu_type = 0, .demand = {1, 0}, .cost = 1, .rate = 2},
      {.units = {1}, .gpu_type = 1, .demand = {1, 0}, .cost = 1, .rate = 1}};
  const auto table =
      std::make_shared<ConfigurationTable>("t", std::vector<UnitKind>{{"gpu", {1, 0}}}, two);
  std::vector<Scenario::JobFacts> facts;
  facts.reserve(jobs.size());
  for (const SmallJob& job : jobs) {
    facts.push_back({.table = table, .work = job.duration, .estimate = job.duration});
  }
  return Scenario(WorkloadOf(jobs), ClusterSpec::Parse("1x1:a,1x1:b"), {}, std::move(facts));
}

Times JctsUnder(const Scenario& scenario, std::vector<TimeShare> shares) {
  FixedShares policy(std::move(shares));
  return Jcts(RunPolicy(scenario, policy));
}

TEST(IdealRun, SharesChangeWhenAJobArrivesOrEnds) {
  // Half of the GPU each until 200 s, when the first has its 100 s; then all of it for the second.
  // From 300 s, which is no decision of an interval, half of it again.
  const Scenario scenario =
      ScenarioOf({{.duration = 100}, {.duration = 300}, {.submit = 300, .duration = 50}}, "1x1");
  const RunOutcome outcome = RunPolicy(scenario, *Isolated("true"));
  EXPECT_EQ(Jcts(outcome), (Times{200, 450, 100}));
  EXPECT_EQ(outcome.records[1].restarts, 0);
  EXPECT_DOUBLE_EQ(outcome.records[0].gpu_seconds, 100);
  // Rounds of the same shares: whole intervals, and a restart each time.
  EXPECT_GT(Jcts(RunPolicy(scenario, *Isolated("false")))[1], 450);
}

TEST(IdealRun, RatesOfTypesAddUp) {
  // 0.75 x 2 + 0.25 x 1 = 1.75 a second.
  EXPECT_EQ(
      JctsUnder(OnTwoTypes({{.duration = 350}}), {{.row = 0, .configuration = 0, .share = 0.75},
                                                  {.row = 0, .configuration = 1, .share = 0.25}}),
      (Times{200}));
}

TEST(IdealRun, BothOfAPairProgressOnTheSameGpus) {
  const TimeShare pair{
      .row = 0, .configuration = 0, .share = 1, .partner_row = 1, .partner_configuration = 0};
  EXPECT_EQ(JctsUnder(OnTwoTypes({{.duration = 200}, {.duration = 200}}), {pair}),
            (Times{100, 100}));
}

TEST(IdealRun, RulesOfTheMechanismDoNotCount) {
  SimOptions rounds;
  rounds.interval = 360;
  rounds.whole_rounds = true;
  const Scenario scenario = ScenarioOf({{.duration = 10.5}, {.duration = 10.5}}, "1x1", rounds);
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Isolated("true"))), (Times{21, 21}));
}

TEST(IdealRun, SharesAboveOneAreRefused) {
  const Scenario scenario = OnTwoTypes({{.duration = 100}, {.duration = 100}});
  ExpectError(ExitCode::kRunFailed,
              {"a time share must be > 0 and at most 1, got 1.5", "policy 'fixed'"},
              [&] { JctsUnder(scenario, {{.row = 0, .configuration = 0, .share = 1.5}}); });
  ExpectError(ExitCode::kRunFailed, {"a job's time shares add up to at most 1, got 1.2"}, [&] {
    JctsUnder(scenario, {{.row = 0, .configuration = 0, .share = 0.6},
                         {.row = 0, .configuration = 1, .share = 0.6}});
  });
  ExpectError(ExitCode::kRunFailed, {"of at most its 1 GPUs, got 1.5", "type 'a'"}, [&] {
    JctsUnder(scenario, {{.row = 0, .configuration = 0, .share = 0.75},
                         {.row = 1, .configuration = 0, .share = 0.75}});
  });
}

TEST(IdealRun, NodesThatFailAreRefused) {
  SimOptions options;
  options.node_events = {{100, 0, false}};
  const Scenario scenario = ScenarioOf({{.duration = 10}}, "2x1", options);
  ExpectError(ExitCode::kUsage, {"ideal=true", "nodes that come and go"},
              [&] { RunPolicy(scenario, *Isolated("true")); });
}

}  // namespace
}  // namespace allot
