#include "experiment/world_options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

TEST(WorldFromTexts, SetsEachKindOfValue) {
  const WorldSpec spec = WorldFromTexts({{"workload", "trace.csv"},
                                         {"rigid", "true"},
                                         {"workloads", "3"},
                                         {"speedup", "0.5"},
                                         {"seed", "18446744073709551615"},
                                         {"jobs", "20"},
                                         {"interval", "60"},
                                         {"load", "0.7, 1.3"}});
  EXPECT_EQ(spec.workload, "trace.csv");
  EXPECT_TRUE(spec.rigid);
  EXPECT_EQ(spec.workloads, 3);
  EXPECT_EQ(spec.speedup, 0.5);
  EXPECT_EQ(spec.seed, 18446744073709551615ULL);
  EXPECT_EQ(spec.jobs, 20);
  EXPECT_EQ(spec.interval, 60.0);
  EXPECT_EQ(spec.loads, (std::vector{0.7, 1.3}));
}

TEST(WorldFromTexts, LeavesTheOthersAsTheyAre) {
  const WorldSpec spec = WorldFromTexts({{"cluster", "2x4"}});
  EXPECT_EQ(spec.cluster, "2x4");
  EXPECT_EQ(spec.workload, WorldSpec{}.workload);
  EXPECT_FALSE(spec.rate.has_value());
}

TEST(WorldFromTexts, NamesOptionAndTextOfAFault) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"seed", "-1"},       {"seed", "1.5"},    {"seed", "18446744073709551616"},
      {"rigid", "yes"},     {"jobs", "3.5"},    {"jobs", "9999999999"},
      {"interval", "nan"},  {"load", "1,,2"},   {"workloads", "0"},
      {"speedup", "1e300"}, {"workloads", "x"},
  };
  for (const auto& fault : faults) {
    SCOPED_TRACE(fmt::format("{}={}", fault.first, fault.second));
    ExpectError(ExitCode::kUsage, {fmt::format("--{}: must be ", fault.first)}, [&] {
      WorldFromTexts({{fault.first, fault.second}});
    });
  }
}

TEST(WorldFromTexts, SuggestsANameForAnUnknownOne) {
  ExpectError(ExitCode::kUsage, {"'worload'", "did you mean 'workload'?"}, [] {
    WorldFromTexts({{"worload", "x"}});
  });
}

TEST(WorldFromTexts, ASettingExcludesWhatItBrings) {
  EXPECT_EQ(WorldFromTexts({{"setting", "dl2"}, {"seed", "3"}, {"workloads", "2"}}).seed, 3U);
  ExpectError(ExitCode::kUsage, {"--setting", "--cluster", "dl2", "2x4"}, [] {
    WorldFromTexts({{"setting", "dl2"}, {"cluster", "2x4"}});
  });
}

TEST(WorldOptionTable, NamesEachOptionOnce) {
  std::set<std::string> names;
  std::set<std::string> letters;
  for (const WorldOption& option : WorldOptionTable()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    if (!option.letter.empty()) {
      EXPECT_TRUE(letters.insert(option.letter).second) << option.letter;
    }
  }
}

}  // namespace
}  // namespace allot
