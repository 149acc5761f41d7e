// Rules of operators that bind policies, in a simulated cluster.

#include <gtest/gtest.h>

#include "core/error.h"
#include "sim/ruled_simulation.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Fifo;
using testing_support::ScenarioOf;
using testing_support::SmallJob;

SimOptions Under(const std::string& rules) {
  SimOptions options;
  options.interval = 60;
  options.restart_cost = 0;
  options.rules = std::make_shared<const OperatorRules>(OperatorRules::Parse(rules, "rules.toml"));
  return options;
}

// How many rows a policy saw, and when; it gives every row a GPU, and another one each time.
class Restless : public Policy {
 public:
  Restless() { info_.id = "restless"; }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation& o, Allocation* allocation) override {
    allocation->Clear();
    seen.emplace_back(o.now, o.rows());
    if (o.rows() == 0 || o.cluster->total().gpus == 0) return;
    const auto gpu = std::uint64_t{1} << (seen.size() % 2);
    const NodeShare share{0, {1}, o.cluster->nodes()[0].capacity.gpus > 1 ? gpu : 1};
    allocation->Add(o.job[0], o.table[0]->Find({1}, 0), {&share, 1});
  }
  std::vector<std::pair<Seconds, std::int32_t>> seen;

 private:
  PolicyInfo info_;
};

using Seen = std::vector<std::pair<Seconds, std::int32_t>>;

TEST(SimulatedRulesTest, ACooldownHidesAJobUntilItIsOver) {
  Restless policy;
  const Scenario scenario = ScenarioOf({SmallJob{.duration = 500}}, "1x4", Under("cooldown = 200"));
  const RunOutcome outcome = RunPolicy(scenario, policy);
  // Asked when it arrives, and when each cooldown is over, at the next interval.
  EXPECT_EQ(policy.seen, (Seen{{0, 1}, {240, 1}, {480, 1}}));
  EXPECT_EQ(outcome.records[0].restarts, 2);
}

TEST(SimulatedRulesTest, AsManyRestartsAnHourAsAreAllowed) {
  const Scenario scenario = ScenarioOf({SmallJob{.duration = 9000}}, "1x4",
                                       Under("cooldown = 60\nrestarts_per_hour = 3"));
  Restless policy;
  const RunOutcome outcome = RunPolicy(scenario, policy);
  EXPECT_EQ(outcome.records[0].restarts, 3 * 3);
}

TEST(SimulatedRulesTest, AJobThatIsNeverMovedKeepsItsPlace) {
  Workload workload = testing_support::WorkloadOf({{.duration = 500}, {.duration = 500}});
  workload.jobs[0].tenant = workload.tenants.Intern("fixed");
  workload.jobs[1].tenant = workload.tenants.Intern("other");
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("1x2"),
                          Under("[[jobs]]\naccount = \"fixed\"\nmoves = false\n"));
  Restless policy;
  const RunOutcome outcome = RunPolicy(scenario, policy);
  EXPECT_EQ(outcome.records[0].restarts, 0);
  EXPECT_EQ(outcome.records[0].finish, 500);
  for (const auto& [time, rows] : policy.seen) {
    EXPECT_EQ(rows, time > 0 ? 1 : 2) << time;
  }
  EXPECT_LT(outcome.records[1].finish, kNever);
}

TEST(SimulatedRulesTest, AJobThatWaitsBeginsWhateverItsRestarts) {
  SimOptions options = Under("restarts_per_hour = 0\ncooldown = \"1h\"\n");
  options.node_events = {{100, 0, false}, {300, 0, true}};
  const Scenario scenario = ScenarioOf({SmallJob{.duration = 500}}, "1x4", options);
  Restless policy;
  const RunOutcome outcome = RunPolicy(scenario, policy);
  EXPECT_EQ(outcome.records[0].failures, 1) << "a node that goes down is stronger";
  EXPECT_EQ(outcome.records[0].restarts, 1);
  EXPECT_EQ(outcome.records[0].finish, 300 + 400);
}

TEST(SimulatedRulesTest, NotOfWholeRounds) {
  SimOptions options = Under("cooldown = 60\n");
  options.whole_rounds = true;
  ExpectError(ExitCode::kUsage, {},
              [&] { (void)ScenarioOf({SmallJob{.duration = 500}}, "1x4", options); });
  options.rules = std::make_shared<const OperatorRules>(OperatorRules::Parse("sizes = [1]", "r"));
  (void)ScenarioOf({SmallJob{.duration = 500}}, "1x4", options);
}

TEST(SimulatedRulesTest, SizesAreThoseOfTheJobsAccount) {
  Workload workload =
      testing_support::WorkloadOf({{.gpus = 3, .duration = 500, .min_gpus = 1, .max_gpus = 8},
                                   {.gpus = 3, .duration = 500, .min_gpus = 1, .max_gpus = 8}});
  workload.jobs[1].tenant = workload.tenants.Intern("free");
  const Scenario scenario(testing_support::WithEqualRates(std::move(workload)),
                          ClusterSpec::Parse("2x4"),
                          Under("fair_share = false\nsizes = \"powers-of-two\"\n"
                                "[[jobs]]\naccount = \"free\"\nsizes = \"any\"\n"),
                          testing_support::EqualRates());
  EXPECT_EQ(scenario.facts(0).table->size(), 4);
  EXPECT_EQ(scenario.facts(1).table->size(), 8);
  EXPECT_FALSE(scenario.has_binding_rules());
}

TEST(SimulatedRulesTest, AnAccountGetsBackWhatItIsGuaranteed) {
  Workload workload = testing_support::WorkloadOf(
      {{.gpus = 4, .duration = 5000}, {.submit = 100, .gpus = 2, .duration = 500}});
  workload.jobs[1].tenant = workload.tenants.Intern("vision");
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("1x4"),
                          Under("[[guarantees]]\naccount = \"vision\"\ngpus = 2\n"));
  const RunOutcome outcome = RunPolicy(scenario, *Fifo());
  EXPECT_EQ(outcome.records[1].first_start, 120) << "at the decision after it came";
  EXPECT_EQ(outcome.records[1].finish, 620);
  EXPECT_EQ(outcome.records[0].preemptions, 1);
  EXPECT_LT(outcome.records[0].finish, kNever);
}

TEST(SimulatedRulesTest, GuaranteesAreNotMoreThanTheCluster) {
  EXPECT_THROW(ScenarioOf({SmallJob{.duration = 500}}, "1x4",
                          Under("[[guarantees]]\naccount = \"a\"\ngpus = 5\n")),
               Error);
}

TEST(SimulatedRulesTest, ANodeInMaintenanceIsAsDrained) {
  const Scenario scenario =
      ScenarioOf({SmallJob{.gpus = 4, .duration = 500}}, "1x4",
                 Under("[[maintenance]]\nnodes = \"0\"\nfrom = \"100\"\nto = \"290\"\n"));
  const RunOutcome outcome = RunPolicy(scenario, *Fifo());
  EXPECT_EQ(outcome.records[0].failures, 1) << "the node stopped it, not the policy";
  EXPECT_EQ(outcome.records[0].preemptions, 1);
  EXPECT_EQ(outcome.records[0].finish, 300 + 400);
}

TEST(SimulatedRulesTest, AWindowEndsNoFailure) {
  SimOptions options = Under("[[maintenance]]\nnodes = \"0\"\nfrom = \"100\"\nto = \"290\"\n");
  options.node_events = {{200, 0, false}, {1000, 0, true}};
  const Scenario scenario = ScenarioOf({SmallJob{.gpus = 4, .duration = 500}}, "1x4", options);
  EXPECT_EQ(RunPolicy(scenario, *Fifo()).records[0].finish, 1020 + 400);
}

TEST(SimulatedRulesTest, BeforeAWindowNothingMoreBegins) {
  const Scenario scenario = ScenarioOf(
      {SmallJob{.gpus = 2, .duration = 500}, SmallJob{.submit = 100, .gpus = 2, .duration = 100}},
      "1x4", Under("[[maintenance]]\nnodes = \"0\"\nfrom = \"600\"\nto = \"900\"\nlead = 550\n"));
  const RunOutcome outcome = RunPolicy(scenario, *Fifo());
  EXPECT_EQ(outcome.records[0].finish, 500) << "what runs there runs on";
  EXPECT_EQ(outcome.records[1].first_start, 900);
}

TEST(SimulatedRulesTest, AWindowIsOfANode) {
  EXPECT_THROW(ScenarioOf({SmallJob{.duration = 500}}, "1x4",
                          Under("[[maintenance]]\nnodes = \"n1\"\nfrom = \"1h\"\nto = \"2h\"\n")),
               Error);
}

TEST(SimulatedRulesTest, WithoutRulesNothingIsCopied) {
  const Scenario scenario = ScenarioOf({SmallJob{.duration = 500}}, "1x4", Under(""));
  RuledSimulation simulation(scenario);
  EXPECT_EQ(&simulation.port(), &simulation.cluster());
}

}  // namespace
}  // namespace allot
