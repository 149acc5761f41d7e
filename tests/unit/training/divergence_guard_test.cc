#include "agents/training/divergence_guard.h"

#include <gtest/gtest.h>

#include <limits>

#include "agents/learned/index_agent.h"
#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// Good iterations, and a fault of choice in the tenth.
class FaultyTrainer : public Trainer {
 public:
  using Fault = std::function<void(IterationReport*, TrainerState*)>;
  explicit FaultyTrainer(Fault fault) : fault_(std::move(fault)) {
    state_.weights = IndexAgentAt({}, 4, 1);
  }
  IterationReport Step() override {
    ++state_.iteration;
    IterationReport report{
        .iteration = state_.iteration, .ratio_to_teacher = 1, .gradient_norm = 2, .signal = 1};
    state_.weights[index_net::kOutBias].data[0] = static_cast<float>(state_.iteration);
    if (state_.iteration == 10) fault_(&report, &state_);
    return report;
  }
  const TrainerState& state() const override { return state_; }

 private:
  Fault fault_;
  TrainerState state_;
};

struct Case {
  const char* name;
  FaultyTrainer::Fault fault;
  std::vector<std::string> told;
};

class DivergenceGuardFaults : public testing::TestWithParam<Case> {};

TEST_P(DivergenceGuardFaults, StopTheRunWithTheLastGoodState) {
  DivergenceGuard trainer(std::make_unique<FaultyTrainer>(GetParam().fault));
  for (int i = 0; i < 9; ++i) trainer.Step();
  std::vector<std::string> told = GetParam().told;
  told.insert(told.end(), {"iteration 10", "learning-rate"});
  ExpectError(ExitCode::kRunFailed, told, [&] { trainer.Step(); });
  EXPECT_EQ(trainer.state().iteration, 9);
  EXPECT_EQ(trainer.state().weights[index_net::kOutBias].data[0], 9.0F);
}

INSTANTIATE_TEST_SUITE_P(
    All, DivergenceGuardFaults,
    testing::Values(
        Case{"NanLoss",
             [](IterationReport* report, TrainerState*) {
               report->ratio_to_teacher = std::numeric_limits<double>::quiet_NaN();
             },
             {"ratio to the teacher", "nan"}},
        Case{"InfiniteSignal",
             [](IterationReport* report, TrainerState*) {
               report->signal = std::numeric_limits<double>::infinity();
             },
             {"signal", "inf"}},
        Case{"ExplodingGradient",
             [](IterationReport* report, TrainerState*) { report->gradient_norm = 1e9; },
             {"explodes", "1e+09", "usual is 2"}},
        Case{"NanWeight",
             [](IterationReport*, TrainerState* state) {
               state->weights[index_net::kOutJob].data[3] = std::nanf("");
             },
             {"out.job", "nan"}},
        Case{"HugeWeight",
             [](IterationReport*, TrainerState* state) {
               state->weights[index_net::kOutJob].data[3] = 1e6F;
             },
             {"out.job", "1000000"}},
        Case{"RefusedGradient",
             [](IterationReport*, TrainerState*) { throw RunError("the gradient is not finite"); },
             {"the gradient is not finite"}}),
    [](const auto& one) { return one.param.name; });

TEST(DivergenceGuard, LetsGoodIterationsPass) {
  DivergenceGuard trainer(std::make_unique<FaultyTrainer>([](IterationReport*, TrainerState*) {}));
  for (int i = 0; i < 40; ++i) EXPECT_EQ(trainer.Step().iteration, i + 1);
  EXPECT_EQ(trainer.state().iteration, 40);
}

}  // namespace
}  // namespace allot
