#include "models/sequence_net.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/models/random_values.h"

namespace allot {
namespace {

using testing_support::RandomValues;

TEST(SharedNet, TheOrderOfJobsOrdersTheAnswers) {
  const auto net = MakeSequenceNet(InitSharedNet({4, 3, 8, 3}, 1));
  const std::vector<float> context = RandomValues(3, 2);
  const std::vector<float> jobs = RandomValues(2 * 4, 3);
  std::vector<float> swapped(jobs.begin() + 4, jobs.end());
  swapped.insert(swapped.end(), jobs.begin(), jobs.begin() + 4);
  std::vector<float> out(7);
  std::vector<float> other(7);
  SequenceNet::Scratch scratch;
  net->Forward(jobs, context, out, &scratch);
  net->Forward(swapped, context, other, &scratch);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(out[k], other[3 + k]);
    EXPECT_EQ(out[3 + k], other[k]);
  }
  EXPECT_EQ(out[6], other[6]);
}

TEST(SharedNet, AnyNumberOfJobsNoneIncluded) {
  const auto net = MakeSequenceNet(InitSharedNet({4, 3, 8, 3}, 1));
  SequenceNet::Scratch scratch;
  for (const std::size_t jobs : {0U, 1U, 300U}) {
    std::vector<float> out(3 * jobs + 1);
    net->Forward(RandomValues(4 * jobs, 5), RandomValues(3, 2), out, &scratch);
    for (const float logit : out) EXPECT_TRUE(std::isfinite(logit));
  }
}

TEST(SequenceNets, StartWithActionsAboutEquallyLikely) {
  const auto net = MakeSequenceNet(InitFlatNet({6, 5, 32, 3}, 1));
  std::vector<float> out(19);
  SequenceNet::Scratch scratch;
  net->Forward(RandomValues(30, 4), {}, out, &scratch);
  for (const float logit : out) EXPECT_LT(std::abs(logit), 1.0F);
}

TEST(SequenceNets, TensorsMustMatchTheSizes) {
  NetWeights flat = InitFlatNet({6, 5, 32, 3}, 1);
  flat.sizes["window"] = 7;
  ExpectError(ExitCode::kBadData, {"here", "'first.weight'", "[32, 35]", "[32, 30]"},
              [&] { CheckSequenceNet(flat, "here"); });
  NetWeights shared = InitSharedNet({4, 3, 8, 3}, 1);
  shared.sizes.erase("kinds");
  ExpectError(ExitCode::kBadData, {"here", "'kinds'"}, [&] { CheckSequenceNet(shared, "here"); });
}

}  // namespace
}  // namespace allot
