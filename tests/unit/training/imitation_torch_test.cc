#include <gtest/gtest.h>

#include <cmath>

#include "agents/learned/index_agent.h"
#include "agents/training/imitation.h"
#include "sim/run.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

constexpr Part kAll{.held_out = false, .hold_out_share = 0};

DecisionLog LogOf(const Scenario& scenario, std::string_view policy) {
  DecisionLog log;
  DecisionCollector collector(&log);
  DecisionListener* const listeners[] = {&collector};
  const auto teacher = MakePolicy(policy);
  RunPolicy(scenario, *teacher, listeners);
  return log;
}

IndexNetWeights Student() { return IndexAgentAt({}, 4, 1); }

class ImitationTest : public testing::Test {
 protected:
  void SetUp() override { AppendImitationData(*scenario_, log_, Student(), kAll, 1, &data_); }

  std::shared_ptr<const Scenario> scenario_ = SmallScenario(1, 80);
  DecisionLog log_ = LogOf(*scenario_, "index:alpha=1,beta=0.5,kappa=0.3");
  ImitationData data_;
};

TEST_F(ImitationTest, LearnsAKnownIndex) {
  const IndexNetWeights start = IndexAgentAt({}, 4, 1);
  std::vector<double> losses;
  const IndexNetWeights learned =
      Imitate(data_, {}, {.epochs = 30, .batch_decisions = 32}, start,
              [&](const ImitationReport& report) { losses.push_back(report.loss); });
  ASSERT_EQ(losses.size(), 30U);
  EXPECT_LT(losses.back(), 0.7 * losses.front());
  const double before = Agreement(*scenario_, log_, kAll, start).share();
  const double after = Agreement(*scenario_, log_, kAll, learned).share();
  EXPECT_GT(after, before);
  EXPECT_GT(after, 0.9);
}

// The workload is elastic, las gives what was asked for: no fill of hulls does.
TEST(Imitation, LearnsAnOrderOfServiceThatNoIndexHas) {
  const auto scenario = SmallScenario(2, 80);
  const DecisionLog log = LogOf(*scenario, "las");
  const Part learned{.held_out = false, .hold_out_share = 0.2};
  const Part held_out{.held_out = true, .hold_out_share = 0.2};
  const auto agreement = [&](const std::string& network) {
    const IndexNetWeights start(MakeNetwork(network, 1));
    ImitationData data;
    AppendImitationData(*scenario, log, start, learned, 1, &data);
    const IndexNetWeights weights =
        Imitate(data, {}, {.epochs = 30, .batch_decisions = 16}, start, [](const auto&) {});
    return Agreement(*scenario, log, held_out, weights).share();
  };
  EXPECT_GT(agreement("order:hidden=4"), 0.9);
  EXPECT_LT(agreement("index:hidden=4"), 0.9);
}

TEST(Imitation, OfANetworkWithoutKeysIsRefused) {
  const auto scenario = SmallScenario(1, 80);
  ImitationData data;
  ExpectError(ExitCode::kUsage, {"does not learn from logs"}, [&] {
    AppendImitationData(*scenario, LogOf(*scenario, "las"), MakeNetwork("offsets:hidden=4", 1),
                        kAll, 1, &data);
  });
}

// Adam's first step is the sign of the gradient: every weight must move against the loss's finite
// difference.
TEST_F(ImitationTest, FirstStepGoesAgainstFiniteDifferences) {
  const IndexNetWeights start = IndexAgentAt({.alpha = 0.25F, .beta = 0.3F, .kappa = 0.3F}, 1, 1);
  const ImitationOptions one_step{
      .epochs = 1, .batch_decisions = 100000, .learning_rate = 1e-4, .final_learning_rate = 1e-4};
  double loss = 0;
  const auto run = [&](const IndexNetWeights& from) {
    return Imitate(data_, {}, one_step, from,
                   [&](const ImitationReport& report) { loss = report.loss; });
  };
  const IndexNetWeights moved = run(start);
  int compared = 0;
  for (const std::string_view name :
       {index_net::kOutJob, index_net::kOutBias, index_net::kOutHidden}) {
    for (std::size_t i = 0; i < start[name].data.size(); ++i) {
      IndexNetWeights shifted = start;
      constexpr float kStep = 5e-3F;
      shifted[name].data[i] = start[name].data[i] + kStep;
      run(shifted);
      double slope = loss;
      shifted[name].data[i] = start[name].data[i] - kStep;
      run(shifted);
      slope = (slope - loss) / (2 * kStep);
      if (std::abs(slope) < 1e-3) continue;
      ++compared;
      EXPECT_LT(slope * (moved[name].data[i] - start[name].data[i]), 0) << name << " " << i;
    }
  }
  EXPECT_GT(compared, 20);
}

TEST_F(ImitationTest, HeldOutPartIsTheRest) {
  ImitationData learned;
  ImitationData held_out;
  AppendImitationData(*scenario_, log_, Student(), {.held_out = false, .hold_out_share = 0.2}, 1,
                      &learned);
  AppendImitationData(*scenario_, log_, Student(), {.held_out = true, .hold_out_share = 0.2}, 1,
                      &held_out);
  EXPECT_EQ(learned.decisions() + held_out.decisions(), data_.decisions());
}

TEST(Imitation, NothingContendedIsAnError) {
  const auto scenario = SmallScenario(1, 1, "16x8");
  ImitationData data;
  AppendImitationData(*scenario, LogOf(*scenario, "fifo"), Student(), kAll, 1, &data);
  ExpectError(ExitCode::kBadData, {"no contended decision"}, [&] {
    Imitate(data, {}, {}, IndexAgentAt({}, 1, 1), [](const ImitationReport&) {});
  });
}

}  // namespace
}  // namespace allot
