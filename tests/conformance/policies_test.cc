// What must hold for every registered policy, today's and tomorrow's; named are only compositions
// of stages that no policy has by default.

#include <gtest/gtest.h>

#include <algorithm>

#include "plugin/plugin_policy.h"
#include "sched/incremental.h"
#include "sched/promise_check.h"
#include "sim/lower_bound.h"
#include "tests/conformance/random_world.h"
#include "tests/conformance/runnable_specs.h"

namespace allot {
namespace {

using testing_support::kShapes;
using testing_support::OrderCheck;
using testing_support::RandomScenario;
using testing_support::RandomWorkload;
using testing_support::TwinCheck;
using testing_support::ValidityCheck;
using testing_support::WorldShape;

// Asked for changes, a policy gives the answer that it gives in full, and promises as much.
void ExpectChangesToBeTheSameAnswer(const std::string& spec, const Scenario& scenario) {
  const ScenarioForesight foresight(scenario);
  const EpisodeContext context = {
      .seed = 0, .cluster = &scenario.cluster(), .foresight = &foresight};
  const auto in_full = MakePolicy(spec);
  const auto as_changes = MakePolicy(spec);
  in_full->OnEpisodeStart(context);
  as_changes->OnEpisodeStart(context);
  SimulatedCluster cluster(scenario);
  IncrementalPolicy* const side = as_changes->incremental();
  Allocation full;
  AllocationChanges changes;
  RunningUnder running;
  Seconds holds = 0;
  do {
    const Observation& o = cluster.Observe();
    in_full->Decide(o, &full);
    if (side == nullptr || !side->DecideChanges(o, &changes)) return;
    ASSERT_TRUE(ValidateChanges(o, changes).ok()) << "at " << o.now;
    ASSERT_EQ(DifferenceOf(InFull(o, changes), full), "") << "at " << o.now;
    const Seconds before = HoldsUntil(*in_full, o, running.Of(o, full));
    cluster.ApplyChanges(changes);
    holds = HoldsUntil(*as_changes, cluster.Observe(), cluster.Observe().running);
    ASSERT_EQ(std::max(holds, o.now), std::max(before, o.now)) << "at " << o.now;
  } while (cluster.WaitForChange(holds));
}

// Runs it with a twin that checks every answer and every promise (sched/promise_check.h).
void ExpectPromisesToBeKept(const std::string& spec, const Scenario& scenario) {
  const auto twin = MakePolicy(spec);
  RunOptions options;
  options.twin = twin.get();
  try {
    RunPolicy(scenario, *MakePolicy(spec), {}, {}, options);
  } catch (const Error& error) {
    ADD_FAILURE() << spec << ": " << error.what();
  }
}

// GPUs x time under the curve "GPUs in use", up to the last completion.
double AreaOf(const std::vector<TimelinePoint>& timeline) {
  double area = 0;
  for (std::size_t i = 1; i < timeline.size(); ++i) {
    area += timeline[i - 1].gpus_used * (timeline[i].time - timeline[i - 1].time);
  }
  return area;
}

class PolicyConformanceTest : public testing::TestWithParam<std::string> {
 protected:
  std::string Spec() const { return specs_.Of(GetParam()); }
  std::unique_ptr<Policy> Make() const { return MakePolicy(Spec()); }

 private:
  testing_support::RunnableSpecs specs_;
};

TEST_P(PolicyConformanceTest, TheTimelineAddsUpToWhatTheJobsHeld) {
  for (const WorldShape& shape : kShapes) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      SimOptions options;
      options.decide_on_events = seed == 1;
      if (seed == 2) options.failures = "exponential:between=3h,repair=10min";
      const Scenario scenario(RandomWorkload(30, seed, 6, shape.elastic),
                              ClusterSpec::Parse(shape.cluster), options);
      const RunOutcome outcome = RunPolicy(scenario, *Make());
      double held = 0;
      for (const JobRecord& record : outcome.records) held += record.gpu_seconds;
      EXPECT_NEAR(AreaOf(outcome.timeline), held, 1e-9 * held) << shape.name << ", seed " << seed;
      EXPECT_EQ(outcome.timeline.back().gpus_used, 0) << shape.name << ", seed " << seed;
      for (std::size_t i = 1; i < outcome.timeline.size(); ++i) {
        ASSERT_LT(outcome.timeline[i - 1].time, outcome.timeline[i].time) << shape.name;
      }
    }
  }
}

TEST_P(PolicyConformanceTest, DecidesLegallyAndEveryJobFinishes) {
  for (const WorldShape& shape : kShapes) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Scenario scenario = RandomScenario(shape, seed);
      ValidityCheck check;
      DecisionListener* const listeners[] = {&check};
      for (const JobRecord& record : RunPolicy(scenario, *Make(), listeners).records) {
        EXPECT_LT(record.finish, kNever)
            << shape.name << ", seed " << seed << ", job " << record.job;
        EXPECT_GE(record.first_start, record.submit) << shape.name << ", seed " << seed;
      }
    }
  }
}

TEST_P(PolicyConformanceTest, ChangesAreTheSameAnswer) {
  for (const WorldShape& shape : kShapes) {
    SCOPED_TRACE(shape.name);
    ExpectChangesToBeTheSameAnswer(Spec(), RandomScenario(shape, 2));
  }
}

TEST_P(PolicyConformanceTest, PromisesAreKept) {
  for (const WorldShape& shape : kShapes) {
    for (std::uint64_t seed = 20; seed < 23; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", shape.name, seed));
      SimOptions options;
      options.seed = seed;
      options.decide_on_events = seed == 21;
      if (seed == 22) options.failures = "exponential:between=20000,repair=2000";
      ExpectPromisesToBeKept(Spec(), Scenario(RandomWorkload(30, seed, 6, shape.elastic),
                                              ClusterSpec::Parse(shape.cluster), options));
      if (HasFailure()) return;
    }
  }
}

TEST(PolicyCompositionTest, ChangesAreTheSameAnswerWithGuardsAndVictimsOnNodesThatFail) {
  SimOptions options;
  options.node_events = {{1500, 0, false}, {4000, 0, true}};
  for (const char* spec : {"fifo:max-wait=600", "las:max-wait=600",
                           "las:max-wait=600,sizing=requested/"
                           "within-capacity=false,placement=first-fit/victims=true"}) {
    SCOPED_TRACE(spec);
    const WorldShape& shape = kShapes[0];
    const Scenario scenario(RandomWorkload(40, 2, 4, shape.elastic),
                            ClusterSpec::Parse(shape.cluster), options);
    ExpectChangesToBeTheSameAnswer(spec, scenario);
    ExpectPromisesToBeKept(spec, scenario);
  }
}

TEST_P(PolicyConformanceTest, NoMeanJctIsBelowTheLowerBound) {
  for (const WorldShape& shape : kShapes) {
    for (std::uint64_t seed = 10; seed < 13; ++seed) {
      for (const bool whole : {false, true}) {
        SimOptions options;
        options.seed = seed;
        options.charge_whole_intervals = whole;
        options.decide_on_events = !whole && seed == 11;
        options.restart_cost = seed == 12 ? 0 : 30;
        const Scenario scenario(RandomWorkload(2 + static_cast<int>(seed), seed, 4, shape.elastic),
                                ClusterSpec::Parse(shape.cluster), options);
        const double bound = MeanJctBound(scenario).mean_jct;
        double mean = 0;
        for (const JobRecord& record : RunPolicy(scenario, *Make()).records)
          mean += (record.finish - record.submit) / static_cast<double>(2 + seed);
        EXPECT_GE(mean, bound * (1 - 1e-9))
            << shape.name << ", seed " << seed << (whole ? ", whole intervals" : "");
      }
    }
  }
}

TEST_P(PolicyConformanceTest, EqualSeedsGiveEqualDecisions) {
  for (const WorldShape& shape : kShapes) {
    const Scenario scenario = RandomScenario(shape, 1);
    DecisionLog logs[2];
    const auto reused = Make();  // a new episode starts afresh
    for (DecisionLog& log : logs) {
      DecisionCollector collector(&log);
      DecisionListener* const listeners[] = {&collector};
      RunPolicy(scenario, *reused, listeners);
    }
    EXPECT_EQ(logs[0].times, logs[1].times) << shape.name;
    EXPECT_TRUE(logs[0].allocations == logs[1].allocations) << shape.name;
  }
}

TEST_P(PolicyConformanceTest, SaysThatItReadsLengths) {
  for (const WorldShape& shape : kShapes) {
    testing_support::ExpectLengthsToBeSaid(Spec(), shape, 5, 6);
  }
}

TEST_P(PolicyConformanceTest, TheOrderOfRowsDoesNotMatter) {
  for (const WorldShape& shape : kShapes) {
    SCOPED_TRACE(shape.name);
    const Scenario scenario = RandomScenario(shape, 2);
    auto twin = Make();
    const ScenarioForesight foresight(scenario);
    twin->OnEpisodeStart({.seed = 2, .cluster = &scenario.cluster(), .foresight = &foresight});
    OrderCheck check(std::move(twin));
    DecisionListener* const listeners[] = {&check};
    RunPolicy(scenario, *Make(), listeners);
    if (HasFailure()) return;
  }
}

// How the daemon asks (plugin/plugin_policy.h): a twin behind the C interface.
TEST_P(PolicyConformanceTest, ThroughTheCInterfaceItDecidesTheSame) {
  if (Make()->info().oracle) {
    EXPECT_THROW(MakePluginPolicy("", Spec()), Error) << "no real cluster tells the future";
    return;
  }
  const auto twin = MakePluginPolicy("", Spec());  // a new episode starts afresh
  for (const WorldShape& shape : kShapes) {
    SCOPED_TRACE(shape.name);
    SimOptions options;
    options.seed = 5;
    options.failures = "exponential:between=20000,repair=2000";
    const Scenario scenario(RandomWorkload(30, 5, 6, shape.elastic),
                            ClusterSpec::Parse(shape.cluster), options);
    const auto policy = Make();
    twin->OnEpisodeStart({});
    TwinCheck check(twin.get(), policy.get());
    DecisionListener* const listeners[] = {&check};
    RunPolicy(scenario, *policy, listeners);
    EXPECT_GT(check.decisions(), 10);
    if (HasFailure()) return;
  }
}

TEST_P(PolicyConformanceTest, AnEmptyQueueGivesAnEmptyAllocation) {
  testing_support::World world("2x4");
  const auto policy = Make();
  policy->OnEpisodeStart({.seed = 1, .cluster = world.o.cluster});
  Allocation allocation;
  const NodeShare stale{0, {1}, 1};
  allocation.Add(5, 0, std::span(&stale, 1));  // left from an earlier decision
  policy->Decide(world.o, &allocation);
  EXPECT_TRUE(allocation.entries().empty());
}

TEST_P(PolicyConformanceTest, AJobThatTakesTheWholeClusterRuns) {
  Workload workload = RandomWorkload(20, 4, 4, false);
  Job giant;
  giant.id = "giant";
  giant.submit = 500;
  giant.gpus = 12;
  giant.duration = 600;
  workload.jobs.push_back(giant);
  workload.Finish();
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("3x4"), {});
  for (const JobRecord& record : RunPolicy(scenario, *Make()).records) {
    EXPECT_LT(record.finish, kNever)
        << scenario.workload().jobs[static_cast<std::size_t>(record.job)].id;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, PolicyConformanceTest,
                         testing::ValuesIn(testing_support::RunnableSpecs::Names()),
                         testing_support::RunnableSpecs::TestName);

}  // namespace
}  // namespace allot
