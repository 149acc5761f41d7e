#include "perf/power_laws.h"

#include <gtest/gtest.h>

#include <cmath>

namespace allot {
namespace {

double RateOf(const ThroughputModel& model, int gpus) {
  return model.Rate({static_cast<std::int16_t>(gpus)}, "gpu");
}

TEST(PowerLawCatalogue, RatesFollowTheirNames) {
  const auto model = PowerLawCatalogue().Get("power:0.6095:0.7375");
  EXPECT_DOUBLE_EQ(RateOf(*model, 1), 1);
  EXPECT_NEAR(RateOf(*model, 8), std::pow(8, 0.6095), 1e-9);
  EXPECT_NEAR(RateOf(*model, 16), 0.7375 * std::pow(16, 0.6095), 1e-9);
}

TEST(PowerLawCatalogue, ExponentsSpreadEvenly) {
  double sum = 0;
  const auto& models = PowerLawCatalogue().models();
  for (const ModelPtr& model : models) sum += std::log2(RateOf(*model, 2));
  EXPECT_EQ(models.size(), 80U);
  EXPECT_NEAR(sum / static_cast<double>(models.size()), (0.6 + 0.98) / 2, 1e-9);
}

}  // namespace
}  // namespace allot
