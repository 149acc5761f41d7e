#include "workload/calendar.h"

#include "trace_testing.h"

namespace allot {
namespace {

TEST(Calendar, ReadsAndWritesTheSameTime) {
  EXPECT_EQ(ParseCalendar("1970-01-02 00:00:01"), 86401);
  for (const char* text : {"2017-10-30 00:01:45", "2016-02-29 23:59:59", "9999-12-31 00:00:00"}) {
    EXPECT_EQ(FormatCalendar(ParseCalendar(text).value()), text);
  }
}

TEST(Calendar, ADateIsItsMidnight) {
  EXPECT_EQ(ParseCalendar("2017-11-13"), ParseCalendar("2017-11-13 00:00:00"));
}

TEST(Calendar, RefusesWhatIsNotOne) {
  for (const char* text :
       {"", "None", "2017-02-29", "2017-13-01", "2017-00-10", "1969-12-31", "2017-1-1",
        "2017-11-13 24:00:00", "2017-11-13 08:60:00", "2017-11-13T08:00:00", "2017-11-13 08:00",
        "2017-11-13 08:00:00 ", "-017-11-13"}) {
    EXPECT_FALSE(ParseCalendar(text)) << text;
  }
}

Workload Named(const std::string& origin) {
  Workload workload;
  workload.name = "w";
  workload.origin = origin;
  return workload;
}

TEST(ParseWhen, CalendarTimesCountFromTheOrigin) {
  const Workload workload = Named("2017-10-30 00:01:45");
  EXPECT_EQ(ParseWhen(workload, "2017-10-31"), 86400 - 105);
  EXPECT_EQ(ParseWhen(workload, "2017-10-30 01:01:45"), 3600);
  EXPECT_EQ(ParseWhen(workload, "2017-10-30"), -105);
}

TEST(ParseWhen, SpansHaveUnits) {
  const Workload workload = Named("");
  EXPECT_EQ(ParseWhen(workload, "3600"), 3600);
  EXPECT_EQ(ParseWhen(workload, "1.5h"), 5400);
  EXPECT_EQ(ParseWhen(workload, "1h30m"), 5400);
  EXPECT_EQ(ParseWhen(workload, "90s"), 90);
  EXPECT_EQ(ParseWhen(workload, "2m"), 120);
  EXPECT_EQ(ParseWhen(workload, "14d"), 14 * 86400);
  EXPECT_EQ(ParseWhen(workload, "2w"), 14 * 86400);
}

TEST(ParseWhen, NonsenseIsAUsageError) {
  for (const char* text : {"", "d", "-1d", "soon", "1x", "nan", "1e300d", "30m1h"}) {
    ExpectError(ExitCode::kUsage, {"a time must be like", "got '" + std::string(text) + "'"},
                [&] { ParseWhen(Named("2017-10-30 00:00:00"), text); });
  }
}

TEST(ParseWhen, ADayMustExist) {
  for (const char* text : {"2017-11-31", "2017-11-30 25:00:00", "1969-12-31"}) {
    ExpectError(ExitCode::kUsage, {"that exist", text},
                [&] { ParseWhen(Named("2017-10-30 00:00:00"), text); });
  }
}

TEST(ParseWhen, CalendarTimeNeedsAnOrigin) {
  ExpectError(ExitCode::kUsage, {"knows when it began", "2017-11-13", "'w'"},
              [] { ParseWhen(Named(""), "2017-11-13"); });
}

TEST(Calendar, ZonedTimesKeepTheirTimeOfDay) {
  const auto time = ParseZonedCalendar("2023-03-01 00:18:22+08:00");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->local, ParseCalendar("2023-03-01 00:18:22"));
  EXPECT_EQ(time->zone, 8 * 3600);
  EXPECT_EQ(ParseZonedCalendar("2023-03-01 00:18:22-03:30")->zone, -12600);
  for (const char* bad : {"2023-03-01 00:18:22", "2023-03-01 00:18:22Z", "2023-03-01+08:00",
                          "2023-03-01 00:18:22+15:00", "2023-03-01 00:18:22+08:60", ""}) {
    EXPECT_FALSE(ParseZonedCalendar(bad)) << bad;
  }
}

}  // namespace
}  // namespace allot
