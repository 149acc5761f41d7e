#include "wait_forecast/length_levels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/index.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

constexpr int kFutures = 4000;

// Of the levels of two jobs whose user nobody knows.
double Correlation(double common) {
  const Scenario scenario = testing_support::ScenarioOf({{0, 4, 600}}, "1x4", SimOptions());
  Observation o;
  for (const JobIndex job : {0, 1}) {
    o.Append({.job = job,
              .table = scenario.facts(0).table.get(),
              .requested = scenario.facts(0).requested});
  }
  const auto levels = LengthLevels(o, kFutures, {.common = common}, 1);
  double sum = 0;
  for (std::size_t s = 0; s < At(kFutures); ++s) {
    sum += (levels[s] - 0.5) * (levels[At(kFutures) + s] - 0.5);
  }
  return 12 * sum / kFutures;  // the variance of a level is 1/12
}

TEST(LengthLevels, AnyTwoJobsHaveTheCommonCorrelation) {
  EXPECT_NEAR(Correlation(0), 0, 0.05);
  EXPECT_NEAR(Correlation(1), 1, 1e-4);
  // Of normal numbers with correlation 1/2, whose ranks the levels are: 6 asin(1/4) / pi.
  EXPECT_NEAR(Correlation(0.5), 0.4826, 0.03);
}

}  // namespace
}  // namespace allot
