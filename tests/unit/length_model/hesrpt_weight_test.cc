#include "length_model/hesrpt_weight.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/rng.h"

namespace allot {
namespace {

TEST(HesrptWeight, IsTheLogarithmOfTheShareThatIsAtLeastAsLong) {
  const std::vector<float> values = {3, 1, 2, 4};
  const std::vector<JobIndex> jobs = {0, 1, 2, 3};
  const std::vector<float> shares = HesrptWeight().Of(values, jobs);
  const std::vector<double> expected = {0.5, 1, 0.75, 0.25};
  for (std::size_t r = 0; r < 4; ++r) EXPECT_NEAR(shares[r], std::log(expected[r]), 1e-6) << r;
}

TEST(HesrptWeight, EqualValuesRankByJob) {
  const std::vector<float> values = {1, 1};
  EXPECT_EQ(HesrptWeight().Of(values, std::vector<JobIndex>{7, 3})[1], 0);
  EXPECT_EQ(HesrptWeight().Of(values, std::vector<JobIndex>{3, 7})[0], 0);
}

TEST(HesrptWeight, NobodyHasNone) { EXPECT_TRUE(HesrptWeight().Of({}, {}).empty()); }

TEST(HesrptWeight, ManyRowsRankAsFewDo) {
  constexpr std::size_t kRows = 3000;
  Rng rng(1, "longer-share");
  std::vector<float> values(kRows);
  std::vector<JobIndex> jobs(kRows);
  for (float& value : values) value = static_cast<float>(rng.Below(500)) - 250;
  std::iota(jobs.rbegin(), jobs.rend(), 0);
  HesrptWeight longer;
  const std::vector<float> shares = longer.Of(values, jobs);
  for (std::size_t r = 0; r < kRows; r += 100) {
    std::size_t before = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
      before += values[i] < values[r] || (values[i] == values[r] && jobs[i] < jobs[r]) ? 1U : 0U;
    }
    EXPECT_NEAR(shares[r], std::log(static_cast<double>(kRows - before) / kRows), 1e-5) << r;
  }
}

}  // namespace
}  // namespace allot
