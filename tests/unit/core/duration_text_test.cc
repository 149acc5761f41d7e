#include "core/duration_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace allot {
namespace {

TEST(DurationText, SecondsAndUnits) {
  const std::vector<std::pair<const char*, double>> cases = {
      {"300", 300},         {"1.5", 1.5},   {"30s", 30},    {"90m", 5400},
      {"1h", 3600},         {"2d", 172800}, {"1w", 604800}, {"1h30m", 5400},
      {"1 h 30 min", 5400}, {"1.5h", 5400}, {"-5m", -300},  {"250ms", 0.25}};
  for (const auto& [text, seconds] : cases) {
    const auto parsed = ParseDuration(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_DOUBLE_EQ(*parsed, seconds) << text;
  }
}

TEST(DurationText, WordsAndClocks) {
  const std::vector<std::pair<const char*, double>> cases = {
      {"1 week", 604800}, {"2 weeks 1 day", 1296000},   {"1Week", 604800},     {"2 Days", 172800},
      {"01:30:00", 5400}, {"1-02:03:04", 86400 + 7384}, {"100:00:00", 360000}, {"00:00:01.5", 1.5}};
  for (const auto& [text, seconds] : cases) {
    const auto parsed = ParseDuration(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_DOUBLE_EQ(*parsed, seconds) << text;
  }
}

TEST(DurationText, WhatIsNone) {
  for (const char* text : {"", "h", "1x", "30m1h", "1h1h", "nan", "inf", "1h-3m", "1:00", "-",
                           "week", "1h:10m", "1:60:00", "-1-00:00:00", "1-1:00", "1:2:3:4"}) {
    EXPECT_FALSE(ParseDuration(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace allot
