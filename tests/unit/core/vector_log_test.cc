#include "core/vector_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace allot {
namespace {

// From 1e-37 to 1e38, and many near 1, where a logarithm is hardest.
std::vector<float> Arguments() {
  std::vector<float> values;
  for (double x = 1e-37; x < 1e38; x *= 1.0173) values.push_back(static_cast<float>(x));
  for (double x = 0.5; x < 2; x += 0.0007) values.push_back(static_cast<float>(x));
  values.resize(values.size() / kLogLanes * kLogLanes);
  return values;
}

TEST(VectorLog, IsTheLogarithm) {
  const std::vector<float> arguments = Arguments();
  std::vector<float> logs = arguments;
  TakeLogs(logs.data(), logs.size(), 1000);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double exact = std::log(static_cast<double>(arguments[i]));
    ASSERT_NEAR(logs[i], exact, 3e-7 * std::abs(exact) + 1e-9) << "ln " << arguments[i];
  }
}

TEST(VectorLog, HasTheSameBitsOnAnyProcessor) {
  std::vector<float> here = Arguments();
  std::vector<float> anywhere = here;
  TakeLogs(here.data(), here.size(), 1000);
  TakeLogsPortably(anywhere.data(), anywhere.size(), 1000);
  EXPECT_EQ(here, anywhere);
}

std::vector<double> WideArguments() {
  std::vector<double> values;
  for (double x = 1e-300; x < 1e300; x *= 1.173) values.push_back(x);
  for (double x = 0.5; x < 2; x += 0.0007) values.push_back(x);
  values.resize(values.size() / kWideLogLanes * kWideLogLanes);
  return values;
}

TEST(VectorLog, IsTheLogarithmInDoublePrecision) {
  const std::vector<double> arguments = WideArguments();
  std::vector<double> logs = arguments;
  TakeLogs(logs.data(), logs.size(), 1000);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double exact = std::log(arguments[i]);
    ASSERT_NEAR(logs[i], exact, 4e-16 * std::abs(exact)) << "ln " << arguments[i];
  }
}

TEST(VectorLog, HasTheSameBitsInDoublePrecisionOnAnyProcessor) {
  std::vector<double> here = WideArguments();
  std::vector<double> anywhere = here;
  TakeLogs(here.data(), here.size(), 1000);
  TakeLogsPortably(anywhere.data(), anywhere.size(), 1000);
  EXPECT_EQ(here, anywhere);
}

TEST(VectorLog, StaysWithinItsBound) {
  std::vector<float> values(kLogLanes, 1e-10F);
  std::vector<double> wide(kWideLogLanes, 1e10);
  TakeLogs(values.data(), values.size(), 20);
  TakeLogs(wide.data(), wide.size(), 20);
  EXPECT_EQ(values.front(), -20);
  EXPECT_EQ(wide.front(), 20);
}

TEST(VectorLog, OfOneIsZeroAndOfInfinityLarge) {
  std::vector<float> values(kLogLanes, 1.0F);
  values.back() = std::numeric_limits<float>::infinity();
  TakeLogs(values.data(), values.size(), 1000);
  EXPECT_EQ(values.front(), 0.0F);
  EXPECT_GT(values.back(), 88.0F);
}

}  // namespace
}  // namespace allot
