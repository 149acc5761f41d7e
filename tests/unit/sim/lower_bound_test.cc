#include "sim/lower_bound.h"

#include <gtest/gtest.h>

#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Fifo;
using testing_support::Jcts;
using testing_support::ScenarioOf;
using testing_support::Staged;

Seconds MeanOf(const std::vector<Seconds>& values) {
  Seconds sum = 0;
  for (const Seconds value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(MeanJctBound, IsTightForOneRigidJob) {
  const Scenario scenario = ScenarioOf({{100, 2, 1000}}, "1x4");
  EXPECT_DOUBLE_EQ(MeanJctBound(scenario).mean_jct, 1200);  // it waits for the decision at 300 s
  EXPECT_DOUBLE_EQ(MeanOf(Jcts(RunPolicy(scenario, *Fifo()))), 1200);
}

TEST(MeanJctBound, IsTightForOneElasticJobOnMixedGpus) {
  Workload workload = testing_support::WorkloadOf({{0, 1, 1000, 1, 8}});
  workload.jobs[0].model = workload.models.Intern("resnet18:16");
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("1x8:v100,1x8:k80"), {});
  const auto hull = Staged({.ordering = "submit", .sizing = "hull"});
  EXPECT_DOUBLE_EQ(MeanJctBound(scenario).mean_jct, MeanOf(Jcts(RunPolicy(scenario, *hull))));
}

TEST(MeanJctBound, IsTightForOneJobChargedByWholeIntervals) {
  SimOptions options;
  options.charge_whole_intervals = true;
  options.speedup = 2;
  const Scenario scenario = ScenarioOf({{0, 1, 1000}}, "1x1", options);
  EXPECT_DOUBLE_EQ(MeanJctBound(scenario).mean_jct, 600);
  EXPECT_DOUBLE_EQ(MeanOf(Jcts(RunPolicy(scenario, *Fifo()))), 600);
}

TEST(MeanJctBound, IsTightForOneGpuAndDecisionsOnEvents) {
  SimOptions options;
  options.decide_on_events = true;
  options.lengths = LengthEstimates::Parse("true");
  options.restart_cost = 0;
  const Scenario scenario = ScenarioOf({{0, 1, 400}, {50, 1, 100}, {60, 1, 10}}, "1x1", options);
  const auto srtf = Staged({.ordering = "remaining"});
  EXPECT_DOUBLE_EQ(MeanJctBound(scenario).mean_jct, MeanOf(Jcts(RunPolicy(scenario, *srtf))));
}

TEST(MeanJctBound, IsTheLargestOfItsParts) {
  const Scenario scenario = ScenarioOf({{0, 1, 900}, {0, 1, 900}, {0, 1, 900}}, "1x1");
  const LowerBound bound = MeanJctBound(scenario);
  EXPECT_DOUBLE_EQ(bound.alone, 900);
  EXPECT_DOUBLE_EQ(bound.fluid, 1800);
  EXPECT_DOUBLE_EQ(bound.mean_jct, 1800);
}

TEST(LeastAreaPerWork, IsOfTheMostEfficientConfiguration) {
  const ConfigurationTable table("t", {{"gpu", {1, 2}}},
                                 {{.units = {1}, .demand = {1, 2}, .cost = 1, .rate = 1},
                                  {.units = {4}, .demand = {4, 8}, .cost = 4, .rate = 2}});
  EXPECT_DOUBLE_EQ(LeastAreaPerWork(table, {{1.0}, {0.0}}), 1);
  EXPECT_DOUBLE_EQ(LeastAreaPerWork(table, {{0.0}, {1.0}}), 2);
}

}  // namespace
}  // namespace allot
