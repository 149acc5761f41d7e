#include "agents/training/policy_gradient.h"

#include <gtest/gtest.h>

#include "agents/learned/index_agent.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

PolicyGradientOptions Options(int threads = 1) {
  PolicyGradientOptions options;
  options.iterations = 2;
  options.workloads = 3;
  options.rollouts = 3;
  options.rollout.keep = 0.5;
  options.threads = threads;
  return options;
}

EpisodeSource Episodes() {
  return [](std::uint64_t seed) { return SmallScenario(seed); };
}

PolicyGradientState Start() {
  PolicyGradientState state;
  state.weights = IndexAgentAt({.alpha = 0.25F, .beta = 0.3F, .kappa = 0.3F}, 4, 1);
  return state;
}

PolicyGradientState Train(const PolicyGradientOptions& options) {
  PolicyGradientTrainer trainer(options, Episodes(), Start());
  while (!trainer.done()) trainer.Step();
  return trainer.state();
}

TEST(PolicyGradient, ThreadsDoNotChangeTheWeights) {
  const PolicyGradientState one = Train(Options(1));
  EXPECT_NE(one.weights, Start().weights);
  for (const int threads : {2, 8}) {
    const PolicyGradientState many = Train(Options(threads));
    EXPECT_EQ(many.weights, one.weights) << threads << " threads";
    EXPECT_EQ(many.adam, one.adam) << threads << " threads";
  }
}

TEST(PolicyGradient, ResumesBitForBit) {
  PolicyGradientTrainer first(Options(), Episodes(), Start());
  first.Step();
  PolicyGradientTrainer second(Options(2), Episodes(), first.state());
  second.Step();
  const PolicyGradientState whole = Train(Options());
  EXPECT_EQ(second.state().iteration, 2);
  EXPECT_EQ(second.state().episodes, whole.episodes);
  EXPECT_EQ(second.state().weights, whole.weights);
  EXPECT_EQ(second.state().adam, whole.adam);
}

TEST(PolicyGradient, ReportsWhatItDid) {
  PolicyGradientTrainer trainer(Options(), Episodes(), Start());
  const IterationReport report = trainer.Step();
  EXPECT_EQ(report.iteration, 1);
  EXPECT_EQ(report.episodes, 9);
  EXPECT_EQ(report.learning_rate, Options().learning_rate);
  EXPECT_GT(report.ratio_to_teacher, 0);
  EXPECT_GT(report.advantage_rms, 0);
  EXPECT_GT(report.gradient_norm, 0);
}

TEST(PolicyGradient, LeaveOneOutNeedsTwoRollouts) {
  PolicyGradientOptions options = Options();
  options.rollouts = 1;
  ExpectError(ExitCode::kUsage, {"rollouts >= 2", "got 1"},
              [&] { PolicyGradientTrainer(options, Episodes(), Start()); });
}

}  // namespace
}  // namespace allot
