#include "agents/training/tune.h"

#include <gtest/gtest.h>

#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

std::vector<std::shared_ptr<const Scenario>> Scenarios() {
  return {SmallScenario(1), SmallScenario(2)};
}

TuneOptions Options() {
  TuneOptions options;
  options.objective = ObjectiveNamed("jct");
  options.passes = 1;
  options.threads = 1;
  return options;
}

double ValueOf(const std::string& spec) {
  double sum = 0;
  for (const auto& scenario : Scenarios()) {
    sum += std::log(PlayFor(ObjectiveNamed("jct"), *scenario, *MakePolicy(spec), 2000)) / 2;
  }
  return sum;
}

TEST(TuneIndex, IsNoWorseThanWhereItBegan) {
  const TunedIndex best = TuneIndex(Scenarios(), Options());
  EXPECT_NEAR(best.log_value, ValueOf(best.spec), 1e-12);
  EXPECT_LE(best.log_value, ValueOf("index:alpha=0.25,beta=0.3,kappa=0.3"));
  EXPECT_EQ(best.ranked_spec, best.spec);
}

TEST(TuneIndex, WithTheRankItIsNoWorseThanWithout) {
  TuneOptions options = Options();
  options.ranked = true;
  const TunedIndex best = TuneIndex(Scenarios(), options);
  EXPECT_EQ(best.spec, TuneIndex(Scenarios(), Options()).spec);
  EXPECT_LE(best.ranked_log_value, best.log_value);
  EXPECT_NEAR(best.ranked_log_value, ValueOf(best.ranked_spec), 1e-12);
}

}  // namespace
}  // namespace allot
