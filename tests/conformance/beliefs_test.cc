// What must hold for every registered policy under every registered belief: it decides legally,
// every job ends, and equal seeds give equal decisions, whatever is believed of the rates and also
// while the true ones change.

#include <gtest/gtest.h>

#include "envs/setting.h"
#include "sim/belief.h"
#include "tests/conformance/random_world.h"
#include "tests/conformance/runnable_specs.h"

namespace allot {
namespace {

using testing_support::kShapes;
using testing_support::RandomWorkload;
using testing_support::ValidityCheck;
using testing_support::WorldShape;

class BeliefConformanceTest : public testing::TestWithParam<std::string> {
 protected:
  testing_support::RunnableSpecs specs_;
};

TEST_P(BeliefConformanceTest, DecidesLegallyAndTheSameAgainUnderEveryBelief) {
  for (const WorldShape& shape : kShapes) {
    for (const std::string& belief : Registry<BeliefInfo>::Global().ids()) {
      for (const char* progress : {"constant", "phases:at=0.3|0.7,factors=0.4|1.5"}) {
        SCOPED_TRACE(fmt::format("{}, {}, {}", shape.name, belief, progress));
        SimOptions options;
        options.seed = 3;
        options.beliefs = belief;
        options.progress = progress;
        const Scenario scenario(RandomWorkload(25, 3, 6, shape.elastic),
                                ClusterSpec::Parse(shape.cluster), options);
        DecisionLog logs[2];
        for (DecisionLog& log : logs) {
          ValidityCheck check;
          DecisionCollector collector(&log);
          DecisionListener* const listeners[] = {&check, &collector};
          const auto policy = MakePolicy(specs_.Of(GetParam()));
          for (const JobRecord& record : RunPolicy(scenario, *policy, listeners).records) {
            EXPECT_LT(record.finish, kNever) << "job " << record.job;
          }
        }
        EXPECT_EQ(logs[0].times, logs[1].times);
        EXPECT_TRUE(logs[0].allocations == logs[1].allocations);
        if (HasFailure()) return;
      }
    }
  }
}

// A run that asks for changes only, with answers held, ends as one that is asked for all in full.
TEST_P(BeliefConformanceTest, HeldAnswersAreAskedAgainWhenTablesChange) {
  for (const WorldShape& shape : kShapes) {
    for (const std::string& belief : Registry<BeliefInfo>::Global().ids()) {
      SCOPED_TRACE(fmt::format("{}, {}", shape.name, belief));
      SimOptions options;
      options.seed = 4;
      options.beliefs = belief;
      options.progress = "phases:at=0.5,factors=0.5";
      const Scenario scenario(RandomWorkload(25, 4, 6, shape.elastic),
                              ClusterSpec::Parse(shape.cluster), options);
      ValidityCheck check;
      DecisionListener* const listeners[] = {&check};
      const auto policy = MakePolicy(specs_.Of(GetParam()));
      const auto in_full = RunPolicy(scenario, *policy, listeners).records;
      const auto as_changes = RunPolicy(scenario, *policy).records;
      for (std::size_t j = 0; j < in_full.size(); ++j) {
        ASSERT_EQ(as_changes[j].finish, in_full[j].finish) << "job " << j;
      }
    }
  }
}

// A run in which nobody else looks at rates keeps only those up to date that the policy reads.
TEST_P(BeliefConformanceTest, WhatItDoesNotReadChangesNothing) {
  const auto policy = MakePolicy(specs_.Of(GetParam()));
  if (policy->info().rates == RatesRead::kAll) return;
  for (const char* belief : {"exact", "online", "shared"}) {
    SCOPED_TRACE(belief);
    const auto scenario =
        MakeSetting(fmt::format("pollux:load=0.3,nodes=12,beliefs={}", belief)).episodes(5);
    ValidityCheck check;
    DecisionListener* const listeners[] = {&check};
    const auto in_full = RunPolicy(*scenario, *policy, listeners).records;
    const auto left_out = RunPolicy(*scenario, *policy).records;
    for (std::size_t j = 0; j < in_full.size(); ++j) {
      ASSERT_EQ(left_out[j].finish, in_full[j].finish) << "job " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, BeliefConformanceTest,
                         testing::ValuesIn(testing_support::RunnableSpecs::Names()),
                         testing_support::RunnableSpecs::TestName);

}  // namespace
}  // namespace allot
