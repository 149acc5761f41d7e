#include <gtest/gtest.h>

#include <map>
#include <set>

#include "envs/setting.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

std::shared_ptr<const Scenario> Draw(const std::string& size, std::uint64_t seed) {
  return MakeSetting("dl2:size=" + size).episodes(seed);
}

TEST(Dl2Setting, SizesAreThoseOfTheName) {
  const auto scenario = Draw("V24", 3);
  EXPECT_EQ(scenario->workload().jobs.size(), 120u);
  EXPECT_EQ(scenario->cluster().nodes().size(), 24u);
  EXPECT_EQ(scenario->cluster().total().gpus, 24 * 8);
  EXPECT_EQ(scenario->cluster().total().cpus, 24 * 8);
  EXPECT_EQ(scenario->options().interval, 1200);
}

TEST(Dl2Setting, NoSlotHasMoreArrivalsThanItsMost) {
  for (const auto& [size, most] :
       std::map<std::string, int>{{"S", 5}, {"V24", 3}, {"V24x2", 6}, {"V24h", 1}, {"V240", 30}}) {
    std::map<Seconds, int> in_slot;
    const auto scenario = Draw(size, 1);
    for (const Job& job : scenario->workload().jobs) ++in_slot[job.submit];
    int largest = 0;
    for (const auto& [slot, jobs] : in_slot) largest = std::max(largest, jobs);
    EXPECT_EQ(largest, most) << size;
  }
}

TEST(Dl2Setting, ATypeHasOneLengthUnlessItsNameSaysOtherwise) {
  std::map<std::int32_t, std::set<double>> fixed;
  std::map<std::int32_t, std::set<double>> varied;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto same = Draw("M96", seed);
    for (const Job& job : same->workload().jobs) fixed[job.model].insert(job.work);
    const auto other = Draw("V24", seed);
    for (const Job& job : other->workload().jobs) varied[job.model].insert(job.work);
  }
  EXPECT_EQ(fixed.size(), 8u) << "job types";
  for (const auto& [type, lengths] : fixed) EXPECT_EQ(lengths.size(), 1u) << "type " << type;
  for (const auto& [type, lengths] : varied) EXPECT_GT(lengths.size(), 10u) << "type " << type;
}

TEST(Dl2Setting, OnlySizesWithAnErrorTellWrongLengths) {
  const auto farthest = [](const std::string& size) {
    const auto scenario = Draw(size, 2);
    double most = 0;
    for (JobIndex job = 0; job < 100; ++job) {
      const Scenario::JobFacts& facts = scenario->facts(job);
      most = std::max(most, std::abs(facts.work / facts.estimate - 1));
    }
    return most;
  };
  EXPECT_EQ(farthest("V24"), 0);
  EXPECT_GT(farthest("E24"), 0.25);
  EXPECT_LE(farthest("E24"), 0.3);
  EXPECT_GT(farthest("U24"), 1);
}

TEST(Dl2Setting, AnUnknownSizeIsRefused) {
  ExpectError(ExitCode::kUsage, {"unknown size 'V25'", "V24"}, [] { MakeSetting("dl2:size=V25"); });
}

TEST(Dl2Setting, OnlyExactEstimatesCountAsTheTruth) {
  EXPECT_TRUE(Draw("V24", 1)->tells_true_lengths());
  EXPECT_FALSE(Draw("E24", 1)->tells_true_lengths());
  EXPECT_FALSE(Draw("U24", 1)->tells_true_lengths());
}

}  // namespace
}  // namespace allot
