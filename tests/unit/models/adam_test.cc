#include "models/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

TensorMap Scalar(float value) { return {{"w", {{1}, {value}}}}; }

TEST(Adam, FirstStepMovesByTheLearningRateAgainstTheSign) {
  // With bias correction the first update is lr * g / (|g| + epsilon), whatever the betas.
  for (const float gradient : {3.0F, -0.002F}) {
    TensorMap weights = Scalar(1.0F);
    AdamState state;
    AdamStep(Scalar(gradient), 0.1, {}, &weights, &state);
    EXPECT_NEAR(weights["w"].data[0], gradient > 0 ? 0.9 : 1.1, 1e-6) << gradient;
  }
}

TEST(Adam, FindsTheMinimumOfAParabola) {
  TensorMap weights = Scalar(5.0F);
  AdamState state;
  for (int i = 0; i < 500; ++i) {
    const float x = weights["w"].data[0];
    AdamStep(Scalar(2.0F * (x - 2.0F)), 0.05, {}, &weights, &state);
  }
  EXPECT_NEAR(weights["w"].data[0], 2.0, 1e-2);
  EXPECT_EQ(state.step, 500);
}

TEST(Adam, ClippingScalesAllTensorsByTheirCommonNorm) {
  TensorMap weights = {{"a", {{1}, {0.0F}}}, {"b", {{1}, {0.0F}}}};
  AdamState state;
  AdamOptions options;
  options.max_gradient_norm = 1.0;
  const double norm =
      AdamStep({{"a", {{1}, {3.0F}}}, {"b", {{1}, {4.0F}}}}, 0.1, options, &weights, &state);
  EXPECT_DOUBLE_EQ(norm, 5.0);
  EXPECT_FLOAT_EQ(state.exp_avg["a"].data[0], 0.1F * 0.6F);
  EXPECT_FLOAT_EQ(state.exp_avg["b"].data[0], 0.1F * 0.8F);
}

TEST(Adam, RefusesAGradientThatIsNotFiniteAndChangesNothing) {
  TensorMap weights = Scalar(1.0F);
  AdamState state;
  AdamStep(Scalar(1.0F), 0.1, {}, &weights, &state);
  const TensorMap weights_before = weights;
  const AdamState state_before = state;
  EXPECT_EQ(ErrorOf(ExitCode::kRunFailed,
                    [&] {
                      AdamStep(Scalar(std::numeric_limits<float>::quiet_NaN()), 0.1, {}, &weights,
                               &state);
                    }),
            "the gradient's norm must be finite, got nan at optimiser step 2");
  EXPECT_EQ(weights, weights_before);
  EXPECT_EQ(state, state_before);
}

}  // namespace
}  // namespace allot
