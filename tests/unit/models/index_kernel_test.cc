#include "models/index_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"

namespace allot::internal {
namespace {

std::vector<float> Numbers(std::size_t count, double scale, Rng* rng) {
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(scale * rng->Normal());
  return numbers;
}

TEST(IndexKernel, GivesTheSameBitsWithAndWithoutTheProcessorsOwnInstructions) {
  for (const std::size_t hidden : {8, 16, 40}) {
    Rng rng(hidden, "index-kernel");
    constexpr std::size_t kFeatures = 19;
    constexpr std::size_t kOutputs = 8;
    constexpr std::size_t kJobs = 37;
    const auto from_job = Numbers((hidden + kOutputs) * kFeatures, 1, &rng);
    const auto base = Numbers(hidden + kOutputs, 1, &rng);
    const auto out_from_hidden = Numbers(kOutputs * hidden, 1, &rng);
    const auto jobs = Numbers(kJobs * kFeatures, 2, &rng);
    const IndexKernelWeights weights{kFeatures,       hidden,      kOutputs,
                                     from_job.data(), base.data(), out_from_hidden.data()};
    std::vector<float> row(kJobsAtOnce * (hidden + kOutputs));
    std::vector<float> portable(kJobs * 3);
    std::vector<float> own(kJobs * 3);
    RunPortableIndexKernel(weights, jobs.data(), kJobs, 3, portable.data(), row.data());
    RunIndexKernel(weights, jobs.data(), kJobs, 3, own.data(), row.data());
    EXPECT_EQ(own, portable) << hidden << " hidden units";
  }
}

// One hidden unit that passes its input on: what comes out is tanh.
TEST(IndexKernel, TanhIsThatOfTheLibrary) {
  std::vector<float> from_job(2 * kLanes, 0.0F);
  from_job[0] = 1;
  const std::vector<float> base(2 * kLanes, 0.0F);
  std::vector<float> out_from_hidden(kLanes * kLanes, 0.0F);
  out_from_hidden[0] = 1;
  const IndexKernelWeights weights{
      1, kLanes, kLanes, from_job.data(), base.data(), out_from_hidden.data()};
  std::vector<float> row(kJobsAtOnce * 2 * kLanes);
  for (double x = -12; x <= 12; x += 0.01) {
    const auto job = static_cast<float>(x);
    float out = 0;
    RunIndexKernel(weights, &job, 1, 1, &out, row.data());
    EXPECT_NEAR(out, std::tanh(job), 4e-7) << x;
  }
}

}  // namespace
}  // namespace allot::internal
