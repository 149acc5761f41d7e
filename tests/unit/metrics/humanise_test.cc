#include "metrics/humanise.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(HumanDuration, PicksTheUnit) {
  EXPECT_EQ(HumanDuration(0), "0.0 s");
  EXPECT_EQ(HumanDuration(38.12), "38.1 s");
  EXPECT_EQ(HumanDuration(725), "12m 05s");
  EXPECT_EQ(HumanDuration(9660), "2h 41m");
  EXPECT_EQ(HumanDuration(3 * 86400 + 4 * 3600), "3d 04h");
  EXPECT_EQ(HumanDuration(-90), "-1m 30s");
}

TEST(HumanDuration, RoundsIntoTheNextUnit) {
  EXPECT_EQ(HumanDuration(59.94), "59.9 s");
  EXPECT_EQ(HumanDuration(59.97), "1m 00s");
  EXPECT_EQ(HumanDuration(3599.7), "1h 00m");
  EXPECT_EQ(HumanDuration(86399), "1d 00h");
}

TEST(HumanMicroseconds, PicksTheUnit) {
  EXPECT_EQ(HumanMicroseconds(8.24), "8.2 µs");
  EXPECT_EQ(HumanMicroseconds(99.97), "100 µs");
  EXPECT_EQ(HumanMicroseconds(350.4), "350 µs");
  EXPECT_EQ(HumanMicroseconds(1250), "1.25 ms");
  EXPECT_EQ(HumanMicroseconds(2.1e6), "2.10 s");
}

TEST(HumanRatio, ShowsTheIntervalWhenThereIsOne) {
  EXPECT_EQ(HumanRatio({.mean = 0.7123, .low = 0.66, .high = 0.7641, .n = 8}),
            "0.712 [0.660, 0.764]");
  EXPECT_EQ(HumanRatio({.mean = 0.7123, .n = 1}), "0.712");
}

TEST(HumanCount, GroupsThousands) {
  EXPECT_EQ(HumanCount(999), "999");
  EXPECT_EQ(HumanCount(1234567), "1 234 567");
  EXPECT_EQ(HumanCount(-123456), "-123 456");
}

TEST(HumanNumbers, UnknownIsADash) {
  EXPECT_EQ(HumanDuration(kUnknown), "-");
  EXPECT_EQ(HumanMicroseconds(kUnknown), "-");
  EXPECT_EQ(HumanShare(kUnknown), "-");
  EXPECT_EQ(HumanFixed(kUnknown, 2), "-");
  EXPECT_EQ(HumanRatio({}), "-");
}

}  // namespace
}  // namespace allot
