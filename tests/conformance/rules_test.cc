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

// Two users with work on 20 GPUs: what each had after ten minutes of decisions.
class TwoUsers {
 public:
  static constexpr Seconds kEnd = 600;

  void Add(const std::string& user, Seconds submit, GpuCount gpus, GpuCount least) {
    Job job;
    job.id = fmt::format("{}-{}", user, workload_.jobs.size());
    job.submit = submit;
    job.gpus = job.max_gpus = gpus;
    job.min_gpus = least;
    job.duration = 36'000;
    job.user = workload_.users.Intern(user);
    workload_.jobs.push_back(job);
  }
  // `on_decision`: after each, with the cluster as it is then. False where fair shares do not
  // apply: the policy places several jobs on one GPU.
  template <typename F>
  bool Run(Policy* policy, const F& on_decision) {
    workload_.Finish();
    SimOptions options;
    options.interval = 60;
    options.rules = std::make_shared<const OperatorRules>();
    const Scenario scenario(workload_, ClusterSpec::Parse("5x4"), options);
    const ScenarioForesight foresight(scenario);
    policy->OnEpisodeStart({.seed = 0, .cluster = &scenario.cluster(), .foresight = &foresight});
    RuledSimulation simulation(scenario);
    Allocation answer;
    do {
      policy->Decide(simulation.port().Observe(), &answer);
      if (answer.has_partners()) return false;
      EXPECT_EQ(simulation.port().Apply(answer).refused.message(), "");
      on_decision(simulation.cluster().Observe());
    } while (simulation.port().WaitForChange(0) && simulation.port().Observe().now < kEnd);
    return true;
  }
  static GpuCount GpusOf(const Observation& o, std::int32_t user) {
    GpuCount gpus = 0;
    for (std::size_t r = 0; r < o.job.size(); ++r) {
      if (o.user[r] == user && o.running[r] >= 0) gpus += (*o.table[r])[o.running[r]].demand.gpus;
    }
    return gpus;
  }

 private:
  Workload workload_;
};

void ExpectEvenShares(Policy* policy) {
  TwoUsers world;
  for (int job = 0; job < 4; ++job) world.Add("alice", 0, 8, 1);
  for (int job = 0; job < 60; ++job) world.Add("eve", 0, 1, 1);
  double had[2] = {0, 0};
  if (!world.Run(policy, [&had](const Observation& o) {
        for (const std::int32_t user : {0, 1}) had[user] += o.interval * TwoUsers::GpusOf(o, user);
      })) {
    return;
  }
  const double sum = had[0] + had[1];
  EXPECT_GE(sum * sum / (2 * (had[0] * had[0] + had[1] * had[1])), .95)
      << "Jain's index of " << had[0] << " and " << had[1] << " GPU seconds";
}

// Sixty newer jobs of another user, which every policy that favours short or new ones starts.
void ExpectNothingTakenBelowTheShare(Policy* policy) {
  TwoUsers world;
  world.Add("alice", 0, 4, 4);
  for (int job = 0; job < 60; ++job) world.Add("eve", 60, 1, 1);
  (void)world.Run(policy, [](const Observation& o) {
    // While alice is alone a policy may let her job wait.
    EXPECT_TRUE(o.now == 0 || TwoUsers::GpusOf(o, 0) == 4) << "at " << o.now;
  });
}

TEST_P(RuleConformanceTest, GivesUsersTheirFairShares) {
  ExpectEvenShares(Make().get());
  ExpectNothingTakenBelowTheShare(Make().get());
}

TEST(RuleConformance, TheShippedCheckpointGivesUsersTheirFairShares) {
  const std::string spec =
      "learned:checkpoint=" ALLOT_SOURCE_DIR "/checkpoints/philly-elastic/accepted";
  ExpectEvenShares(MakePolicy(spec).get());
  ExpectNothingTakenBelowTheShare(MakePolicy(spec).get());
}

INSTANTIATE_TEST_SUITE_P(Policies, RuleConformanceTest,
                         testing::ValuesIn(testing_support::RunnableSpecs::Names()),
                         testing_support::RunnableSpecs::TestName);

}  // namespace
}  // namespace allot
