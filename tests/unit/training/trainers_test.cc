// What every registered training method promises.

#include <gtest/gtest.h>

#include "agents/learned/index_agent.h"
#include "agents/training/trainer.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

class EveryTrainer : public testing::TestWithParam<std::string> {
 protected:
  static TrainerOptions Options(int threads) {
    TrainerOptions options;
    options.iterations = 2;
    options.workloads = 2;
    options.max_decisions = 100;
    options.teacher = [] { return MakePolicy("optimus"); };
    options.threads = threads;
    return options;
  }
  static TrainerState Start() {
    TrainerState state;
    state.weights = IndexAgentAt({.alpha = 0.25F, .beta = 0.3F, .kappa = 0.3F}, 4, 1);
    return state;
  }
  static std::unique_ptr<Trainer> Make(int threads, TrainerState state) {
    return MakeTrainer(
        GetParam(), Options(threads), [](std::uint64_t seed) { return SmallScenario(seed); },
        std::move(state));
  }
};

TEST_P(EveryTrainer, ThreadsDoNotChangeTheWeights) {
  const auto one = Make(1, Start());
  const auto many = Make(3, Start());
  for (int i = 0; i < 2; ++i) {
    one->Step();
    many->Step();
  }
  EXPECT_NE(one->state().weights, Start().weights);
  EXPECT_EQ(one->state().weights, many->state().weights);
  EXPECT_EQ(one->state().adam, many->state().adam);
}

TEST_P(EveryTrainer, ResumesBitForBit) {
  const auto whole = Make(1, Start());
  whole->Step();
  const auto resumed = Make(2, whole->state());
  const IterationReport expected = whole->Step();
  const IterationReport report = resumed->Step();
  EXPECT_EQ(resumed->state().weights, whole->state().weights);
  EXPECT_EQ(resumed->state().episodes, whole->state().episodes);
  EXPECT_EQ(report.learning_rate, expected.learning_rate);
  EXPECT_EQ(report.iteration, 2);
}

INSTANTIATE_TEST_SUITE_P(All, EveryTrainer,
                         testing::ValuesIn(Registry<TrainerInfo>::Global().ids()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace allot
