#include "wait_forecast/past_arrivals.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

constexpr Seconds kHour = 3600;
constexpr Seconds kDay = 24 * kHour;

// A job at noon of each day: of 3 GPUs on weekends, else of 1. Day 0 is a Thursday, as 1970 began.
std::shared_ptr<const Scenario> Noons(int days) {
  std::vector<testing_support::SmallJob> jobs{{0, 2, 60}};
  for (int d = 0; d < days; ++d) {
    const int of_week = (d + 4) % 7;
    jobs.push_back({d * kDay + 12 * kHour, of_week == 0 || of_week == 6 ? 3 : 1, 60});
  }
  jobs.push_back({days * kDay, 2, 60});
  return std::make_shared<const Scenario>(testing_support::ScenarioOf(jobs, "1x4"));
}

TEST(PastArrivals, ComeAtTheHourAndKindOfDayOfThePast) {
  const auto past = Noons(21);
  const PastArrivals arrivals(past, kNever, kDay);
  Rng rng(1, "test");
  // From the first hour of a Friday: Friday, two days of a weekend, Monday.
  const auto drawn = arrivals.Draw(rng, 29 * kDay + kHour, 4 * kDay);
  ASSERT_EQ(drawn.size(), 4U);
  const GpuCount expected[] = {1, 3, 3, 1};
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    EXPECT_DOUBLE_EQ(drawn[i].after, 11 * kHour + static_cast<double>(i) * kDay);
    EXPECT_EQ(past->workload().jobs[static_cast<std::size_t>(drawn[i].job)].gpus, expected[i]);
  }
}

TEST(PastArrivals, AreOfBeforeTheDateOnly) {
  const PastArrivals arrivals(Noons(21), 5 * kDay, kDay);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "test");
    for (const auto& arrival : arrivals.Draw(rng, 100 * kDay, 10 * kDay)) {
      EXPECT_LE(arrival.job, 5);
    }
  }
}

TEST(PastArrivals, AShortHistoryIsRepeated) {
  const PastArrivals arrivals(std::make_shared<const Scenario>(testing_support::ScenarioOf(
                                  {{0, 1, 60}, {1000, 1, 60}, {2000, 1, 60}}, "1x4")),
                              kNever, kDay);
  Rng rng(1, "test");
  const auto drawn = arrivals.Draw(rng, 0, 20000);
  EXPECT_GE(drawn.size(), 15U);
  EXPECT_LE(drawn.size(), 25U);
}

TEST(PastArrivals, NobodyBeforeTheDateIsAnError) {
  const auto past =
      std::make_shared<const Scenario>(testing_support::ScenarioOf({{500, 1, 60}}, "1x4"));
  EXPECT_EQ(ErrorOf(ExitCode::kUsage, [&] { const PastArrivals none(past, 100, kDay); }),
            "a history needs a job before its date: 'small' begins at 500 s, the date is 100 s");
}

}  // namespace
}  // namespace allot
