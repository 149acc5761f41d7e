#include "sim/length_estimates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

Job Named(const std::string& id) {
  Job job;
  job.id = id;
  return job;
}

double Estimate(const std::string& text, const std::string& id, std::uint64_t seed = 1) {
  return LengthEstimates::Parse(text).Of(Named(id), 100, seed);
}

TEST(LengthEstimatesTest, NoneIsUnknown) { EXPECT_TRUE(std::isnan(Estimate("none", "a"))); }

TEST(LengthEstimatesTest, TrueIsTheWork) { EXPECT_EQ(Estimate("true", "a"), 100); }

// Depends on nothing but the seed and the job's name, hence equal in every sub-sample of a trace.
TEST(LengthEstimatesTest, AJobKeepsItsEstimate) {
  EXPECT_EQ(Estimate("noisy:0.5", "a"), Estimate("noisy:0.5", "a"));
  EXPECT_NE(Estimate("noisy:0.5", "a"), Estimate("noisy:0.5", "b"));
  EXPECT_NE(Estimate("noisy:0.5", "a", 1), Estimate("noisy:0.5", "a", 2));
}

TEST(LengthEstimatesTest, SigmaIsTheDeviationOfTheLogError) {
  EXPECT_EQ(Estimate("noisy:0", "a"), 100);
  double sum = 0;
  double squares = 0;
  constexpr int kJobs = 4000;
  for (int i = 0; i < kJobs; ++i) {
    const double error = std::log(Estimate("noisy:0.5", std::to_string(i)) / 100);
    sum += error;
    squares += error * error;
  }
  EXPECT_NEAR(sum / kJobs, 0, 0.03);
  EXPECT_NEAR(std::sqrt(squares / kJobs), 0.5, 0.03);
}

TEST(LengthEstimatesTest, JobsWithoutTimeLimitCountAsLongerThanAnyLimit) {
  Job job = Named("a");
  job.duration = 50;
  const auto told = [&](Seconds limit) {
    job.user_estimate = limit;
    return LengthEstimates::Parse("user").Of(job, 100, 1);
  };
  EXPECT_DOUBLE_EQ(told(75), 150);
  EXPECT_GT(told(0), told(364 * 86400.0));
  EXPECT_EQ(told(0), told(400 * 86400.0));
}

TEST(LengthEstimatesTest, TextRoundTrips) {
  for (const std::string text : {"none", "true", "noisy:0.5", "noisy:1.25"}) {
    EXPECT_EQ(LengthEstimates::Parse(text).ToString(), text);
  }
}

TEST(LengthEstimatesTest, MalformedTextIsAnError) {
  for (const std::string text : {"noisy", "noisy:", "noisy:-1", "noisy:x", "truth", ""}) {
    ExpectError(ExitCode::kUsage, {"'" + text + "'"}, [&] { LengthEstimates::Parse(text); });
  }
}

}  // namespace
}  // namespace allot
