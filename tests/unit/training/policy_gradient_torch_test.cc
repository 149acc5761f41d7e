#include <gtest/gtest.h>

#include "agents/learned/agent.h"
#include "agents/learned/index_agent.h"
#include "agents/training/policy_gradient_trainer.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

PolicyGradientOptions Method() {
  PolicyGradientOptions own;
  own.rollouts = 3;
  own.rollout.keep = 0.5;
  own.rollout.backlogs = true;
  own.average = 0.9;
  return own;
}

TrainerOptions OptionsFor(int threads = 1) {
  TrainerOptions options;
  options.iterations = 2;
  options.workloads = 3;
  options.teacher = [] { return MakePolicy("optimus"); };
  options.threads = threads;
  return options;
}

EpisodeSource Episodes() {
  return [](std::uint64_t seed) { return SmallScenario(seed); };
}

TrainerState Start() {
  TrainerState state;
  state.weights = IndexAgentAt({.alpha = 0.25F, .beta = 0.3F, .kappa = 0.3F}, 4, 1);
  return state;
}

TrainerState Train(const TrainerOptions& options) {
  PolicyGradientTrainer trainer(Method(), options, Episodes(), Start());
  while (trainer.state().iteration < options.iterations) trainer.Step();
  return trainer.state();
}

TEST(PolicyGradient, ThreadsDoNotChangeTheWeights) {
  const TrainerState one = Train(OptionsFor(1));
  EXPECT_NE(one.weights, Start().weights);
  for (const int threads : {2, 8}) {
    const TrainerState many = Train(OptionsFor(threads));
    EXPECT_EQ(many.weights, one.weights) << threads << " threads";
    EXPECT_EQ(many.adam, one.adam) << threads << " threads";
  }
}

TEST(PolicyGradient, ResumesBitForBit) {
  PolicyGradientTrainer first(Method(), OptionsFor(), Episodes(), Start());
  first.Step();
  PolicyGradientTrainer second(Method(), OptionsFor(2), Episodes(), first.state());
  second.Step();
  const TrainerState whole = Train(OptionsFor());
  EXPECT_EQ(second.state().iteration, 2);
  EXPECT_EQ(second.state().episodes, whole.episodes);
  EXPECT_EQ(second.state().weights, whole.weights);
  EXPECT_EQ(second.state().adam, whole.adam);
  EXPECT_EQ(second.state().memory, whole.memory);
}

TEST(PolicyGradient, ARunWithoutAMeanGoesOnWithoutOne) {
  PolicyGradientOptions own = Method();
  own.average = 0;
  PolicyGradientTrainer first(own, OptionsFor(), Episodes(), Start());
  first.Step();
  ExpectError(ExitCode::kUsage, {"average-decay = 0", "now it is 0.9"},
              [&] { PolicyGradientTrainer(Method(), OptionsFor(), Episodes(), first.state()); });
}

TEST(PolicyGradient, ReportsWhatItDid) {
  PolicyGradientTrainer trainer(Method(), OptionsFor(), Episodes(), Start());
  const IterationReport report = trainer.Step();
  EXPECT_EQ(report.iteration, 1);
  EXPECT_EQ(report.episodes, 9);
  EXPECT_EQ(report.learning_rate, Method().learning_rate);
  EXPECT_GT(report.ratio_to_teacher, 0);
  EXPECT_GT(report.signal, 0);
  EXPECT_GT(report.gradient_norm, 0);
}

// After one iteration a young mean has 1/11 of the start.
TEST(PolicyGradient, ServesTheMeanOfItsWeights) {
  PolicyGradientTrainer trainer(Method(), OptionsFor(), Episodes(), Start());
  trainer.Step();
  const TrainerState& state = trainer.state();
  const NetWeights start = Start().weights;
  for (const auto& [name, mean] : state.weights.tensors) {
    const Tensor& last = state.memory.at("last." + name);
    const Tensor& first = start.tensors.at(name);
    for (std::size_t i = 0; i < mean.data.size(); ++i) {
      EXPECT_NEAR(mean.data[i], (first.data[i] + 10 * last.data[i]) / 11, 1e-6) << name << " " << i;
    }
  }
}

TEST(PolicyGradient, LeaveOneOutNeedsOtherRollouts) {
  PolicyGradientOptions own = Method();
  own.rollouts = 2;
  ExpectError(ExitCode::kUsage, {"baseline=state", "rollouts >= 3", "got 2"},
              [&] { PolicyGradientTrainer(own, OptionsFor(), Episodes(), Start()); });
  own.rollouts = 1;
  own.rollout.backlogs = false;
  ExpectError(ExitCode::kUsage, {"baseline=arrivals", "rollouts >= 2", "got 1"},
              [&] { PolicyGradientTrainer(own, OptionsFor(), Episodes(), Start()); });
}

TEST(PolicyGradient, RefusesAnUnknownBaseline) {
  ExpectError(ExitCode::kUsage, {"baseline", "state or arrivals", "'mean'"},
              [&] { MakeTrainer("policy-gradient:baseline=mean", {}, Episodes(), Start()); });
}

TEST(PolicyGradient, RefusesANetworkOfOtherActions) {
  TrainerState state;
  state.weights = MakeNetwork("flat:hidden=4", 1);
  ExpectError(ExitCode::kUsage,
              {"'policy-gradient'", "index or numbers actions", "'flat'", "sequence"}, [&] {
                MakeTrainer(
                    "policy-gradient", {}, [](std::uint64_t seed) { return SmallScenario(seed); },
                    state);
              });
}

}  // namespace
}  // namespace allot
