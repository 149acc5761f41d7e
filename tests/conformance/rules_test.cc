// Every registered policy keeps the operator's rules: it cannot do otherwise, and gets along.

#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "sim/ruled_simulation.h"
#include "tests/conformance/random_world.h"
#include "tests/conformance/runnable_specs.h"

namespace allot {
namespace {

using testing_support::kShapes;
using testing_support::RandomWorkload;
using testing_support::ValidityCheck;
using testing_support::WorldShape;

constexpr Seconds kCooldown = 900;
constexpr std::size_t kRestarts = 2;  // an hour
constexpr const char* kRules =
    "sizes = \"powers-of-two\"\n"
    "cooldown = 900\n"
    "restarts_per_hour = 2\n"
    "[[jobs]]\n"
    "account = \"tenant1\"\n"
    "moves = false\n";

class RuleConformanceTest : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Policy> Make() const { return MakePolicy(specs_.Of(GetParam())); }

  // What each job was given, change by change.
  std::map<JobIndex, std::vector<AllocationNote>> Run(const Scenario& scenario) {
    ValidityCheck check;
    DecisionListener* const listeners[] = {&check};
    RunOptions options;
    options.note_allocations = true;
    const RunOutcome outcome = RunPolicy(scenario, *Make(), listeners, {}, options);
    for (const JobRecord& record : outcome.records) {
      EXPECT_LT(record.finish, kNever) << "job " << record.job;
    }
    std::map<JobIndex, std::vector<AllocationNote>> notes;
    for (const AllocationNote& note : outcome.notes) notes[note.job].push_back(note);
    return notes;
  }

  static void ExpectKept(const std::vector<AllocationNote>& notes) {
    std::vector<Seconds> restarts;
    for (std::size_t n = 0; n < notes.size(); ++n) {
      if (notes[n].nodes.empty()) continue;
      GpuCount gpus = 0;
      for (const auto& [node, count] : notes[n].nodes) gpus += count;
      EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(gpus))) << gpus << " GPUs";
      const Seconds next = n + 1 < notes.size() ? notes[n + 1].time : kNever;
      EXPECT_GE(next - notes[n].time, kCooldown);
      if (n > 0) restarts.push_back(notes[n].time);
    }
    for (std::size_t r = kRestarts; r < restarts.size(); ++r) {
      EXPECT_GE(restarts[r] - restarts[r - kRestarts], ChangeHistory::kHour);
    }
  }

 private:
  testing_support::RunnableSpecs specs_;
};

TEST_P(RuleConformanceTest, KeepsThem) {
  for (const WorldShape& shape : kShapes) {
    if (!shape.elastic) continue;
    SimOptions options;
    options.rules = std::make_shared<const OperatorRules>(OperatorRules::Parse(kRules, "rules"));
    options.decide_on_events = shape.cluster == kShapes[1].cluster;
    const Scenario scenario(RandomWorkload(30, 7, 4, true), ClusterSpec::Parse(shape.cluster),
                            options);
    for (const auto& [job, notes] : Run(scenario)) {
      SCOPED_TRACE(fmt::format("{}, job {}", shape.name, job));
      ExpectKept(notes);
      EXPECT_TRUE(scenario.RulesOf(job).moves || notes.size() == 1) << "it was moved";
    }
    if (HasFailure()) return;
  }
}

// Jobs of any size, so that no GPU of a guarantee is left over.
TEST_P(RuleConformanceTest, GivesAccountsWhatTheyAreGuaranteed) {
  constexpr GpuCount kGuaranteed = 5;
  SimOptions options;
  options.rules = std::make_shared<const OperatorRules>(
      OperatorRules::Parse("[[guarantees]]\naccount = \"tenant1\"\ngpus = 5\n", "rules"));
  const Scenario scenario(RandomWorkload(30, 8, 4, true), ClusterSpec::Parse("3x4"), options);
  const auto policy = Make();
  const ScenarioForesight foresight(scenario);
  policy->OnEpisodeStart({.seed = 0, .cluster = &scenario.cluster(), .foresight = &foresight});
  RuledSimulation simulation(scenario);
  ClusterPort& cluster = simulation.port();
  Allocation answer;
  do {
    policy->Decide(cluster.Observe(), &answer);
    ASSERT_EQ(cluster.Apply(answer).refused.message(), "");
    const Observation& o = simulation.cluster().Observe();
    GpuCount asked = 0, held = 0;
    for (std::size_t r = 0; r < o.job.size(); ++r) {
      if (scenario.RulesOf(o.job[r]).guarantee != 0) continue;
      asked += (*o.table[r])[o.requested[r]].demand.gpus;
      if (o.running[r] >= 0) held += (*o.table[r])[o.running[r]].demand.gpus;
    }
    ASSERT_GE(held, std::min(asked, kGuaranteed)) << "at " << o.now;
  } while (cluster.WaitForChange(0));
  for (const JobRecord& record : simulation.cluster().records()) EXPECT_LT(record.finish, kNever);
}

INSTANTIATE_TEST_SUITE_P(Policies, RuleConformanceTest,
                         testing::ValuesIn(testing_support::RunnableSpecs::Names()),
                         testing_support::RunnableSpecs::TestName);

}  // namespace
}  // namespace allot
