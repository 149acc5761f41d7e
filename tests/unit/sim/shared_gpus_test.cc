// Two jobs on one set of GPUs, from a sharing to the log.

#include <gtest/gtest.h>

#include <cmath>

#include "cluster/validate.h"
#include "stages/rounds/shared_policy.h"
#include "stages/rounds/sharing.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Jcts;
using testing_support::SmallJob;
using testing_support::TextOf;
using testing_support::WorkloadOf;

using Times = std::vector<Seconds>;

constexpr double kBeside = 0.6;  // the rate of a job that shares its GPU; alone: 1

// Configuration 0: alone; 1: beside another.
std::shared_ptr<const ConfigurationTable> TableOfPairs() {
  const Configuration alone{.units = {1}, .gpu_type = 0, .demand = {1, 0}, .cost = 1, .rate = 1};
  Configuration beside = alone;
  beside.partner = 0;
  beside.rate = kBeside;
  return std::make_shared<ConfigurationTable>(
      "p", std::vector<UnitKind>{{"gpu", {1, 0}}}, std::vector<Configuration>{alone, beside},
      ConfigurationTable::kNoLimits, std::vector<std::string>{"p"});
}

// The first two rows together, or the only one alone.
class TogetherForTests : public Sharing {
 public:
  void Share(const Observation&, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    if (rows.size() < 2) {
      for (const std::int32_t row : rows) shares->push_back({row, 0, 1});
      return;
    }
    shares->push_back({rows[0], 1, 1, rows[1], 1});
  }
};

ALLOT_REGISTER(SharingInfo, ([] {
                 SharingInfo info;
                 info.id = "together-for-tests";
                 info.make = [](const Params&) { return std::make_unique<TogetherForTests>(); };
                 return info;
               }()));

std::unique_ptr<Policy> Together() {
  const PolicyInfo info =
      SharedPolicyInfo("together", "for tests", {.sharing = "together-for-tests"});
  return info.make(Params("policy 'together'", info.params, {}));
}

Scenario Pairs(const std::vector<SmallJob>& jobs, const std::string& cluster) {
  std::vector<Scenario::JobFacts> facts;
  for (const SmallJob& job : jobs) {
    Scenario::JobFacts fact;
    fact.table = TableOfPairs();
    fact.work = fact.estimate = job.duration;
    facts.push_back(std::move(fact));
  }
  SimOptions options;
  options.restart_cost = 0;
  return Scenario(WorkloadOf(jobs), ClusterSpec::Parse(cluster), options, std::move(facts));
}

TEST(SharedGpusTest, APairRunsIsHeldAndIsAccountedOnce) {
  const Scenario scenario = Pairs({{0, 1, 600}, {0, 1, 300}}, "1x1");
  const RunOutcome outcome = RunPolicy(scenario, *Together());
  // Job 1: 300 at 0.6. Job 0 has 360 at 600 s, when the pair is parted, and 240 left.
  const Seconds second = 300 / kBeside;
  EXPECT_NEAR(outcome.records[1].finish, second, 1e-9);
  EXPECT_NEAR(outcome.records[0].finish, 600 + (600 - 600 * kBeside), 1e-9);
  // Half of the GPU each while both run, all of it for who is left.
  EXPECT_NEAR(outcome.records[1].gpu_seconds, second / 2, 1e-9);
  EXPECT_NEAR(outcome.records[0].gpu_seconds, second / 2 + 340, 1e-9);
  EXPECT_EQ(outcome.timeline.front().running, 2);
  EXPECT_EQ(outcome.timeline.front().gpus_used, 1);
}

TEST(SharedGpusTest, TheLogHasPartnersAndSharesAndPlaysBack) {
  const Scenario scenario = Pairs({{0, 1, 900}, {0, 1, 500}, {100, 1, 400}}, "1x1");
  DecisionLog log;
  DecisionCollector collector(&log);
  DecisionListener* const listeners[] = {&collector};
  const RunOutcome outcome = RunPolicy(scenario, *Together(), listeners);
  const std::vector<Allocation::Entry>& first = log.allocations.front().entries();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].partner, 1);
  EXPECT_EQ(first[1].partner, 0);
  EXPECT_EQ(first[0].share, 1);
  EXPECT_EQ(first[1].share, 1);
  RecordedPolicy recorded(log);
  EXPECT_EQ(TextOf(RunPolicy(scenario, recorded).records), TextOf(outcome.records));
}

TEST(SharedGpusTest, APairOnWhichOneOnlyAgreesIsRefused) {
  const Scenario scenario = Pairs({{0, 1, 600}, {0, 1, 300}}, "1x1");
  const SimulatedCluster cluster(scenario);
  const NodeShare gpu{0, {1}, 1};
  Allocation allocation;
  allocation.Add(0, 1, std::span(&gpu, 1), false, 1);
  allocation.Add(1, 0, std::span(&gpu, 1));
  EXPECT_FALSE(cluster.Validate(allocation).ok());
}

TEST(SharedGpusTest, APairStaysWhereItIs) {
  const Scenario scenario = Pairs({{0, 1, 3000}, {0, 1, 3000}}, "2x1");
  for (const JobRecord& record : RunPolicy(scenario, *Together()).records) {
    EXPECT_EQ(record.restarts, 0) << "job " << record.job;
  }
}

// On nodes with one CPU and two GPUs, where each job needs the CPU.
TEST(SharedGpusTest, APairNeedsTheCpusOfBoth) {
  std::vector<Scenario::JobFacts> facts;
  const std::vector<SmallJob> jobs = {{0, 1, 600}, {0, 1, 600}};
  for (const SmallJob& job : jobs) {
    Configuration alone{.units = {1}, .gpu_type = 0, .demand = {1, 1}, .cost = 1, .rate = 1};
    Configuration beside = alone;
    beside.partner = 0;
    beside.rate = kBeside;
    Scenario::JobFacts fact;
    fact.table = std::make_shared<ConfigurationTable>(
        "p", std::vector<UnitKind>{{"gpu", {1, 1}}}, std::vector<Configuration>{alone, beside},
        ConfigurationTable::kNoLimits, std::vector<std::string>{"p"});
    fact.work = fact.estimate = job.duration;
    facts.push_back(std::move(fact));
  }
  SimOptions options;
  options.restart_cost = 0;
  // Together the cluster has enough; no node has.
  const Scenario scenario(WorkloadOf(jobs), ClusterSpec::Parse("2x2x1"), options, std::move(facts));
  const RunOutcome outcome = RunPolicy(scenario, *Together());
  EXPECT_EQ(outcome.records[0].finish, 600);
  EXPECT_EQ(outcome.records[1].first_start, 600);
}

}  // namespace
}  // namespace allot
