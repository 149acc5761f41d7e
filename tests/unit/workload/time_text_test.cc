#include "table/time_text.h"

#include <gtest/gtest.h>

#include "table/length_text.h"

namespace allot {
namespace {

using Order = TimeStyle::Order;

constexpr double kAfternoon = 1795442700;  // 2026-11-23 14:05:00

TEST(TimeText, CalendarTimesOfManyWritings) {
  for (const char* text :
       {"2026-11-23 14:05:00", "2026-11-23T14:05:00", "2026-11-23T14:05", "2026/11/23 14:05",
        "20261123T140500", "23.11.2026 14:05", "23.11.2026, 14:05:00", "23/11/2026 14:05",
        "2026-11-23 2:05 PM", "2026-11-23 14:05:00.000"}) {
    const auto time = ParseCalendarTime(text, Order::kNotSaid);
    ASSERT_TRUE(time.has_value()) << text;
    EXPECT_EQ(time->local, kAfternoon) << text;
    EXPECT_FALSE(time->zone.has_value()) << text;
  }
}

TEST(TimeText, ZonesAreKept) {
  for (const auto& [text, zone] :
       std::vector<std::pair<const char*, int>>{{"2026-11-23T14:05:00Z", 0},
                                                {"2026-11-23 14:05:00+01:00", 3600},
                                                {"2026-11-23T14:05:00.0-0530", -19800},
                                                {"2026-11-23 14:05:00 +08", 28800},
                                                {"2026-11-23 14:05:00 UTC", 0}}) {
    const auto time = ParseCalendarTime(text, Order::kNotSaid);
    ASSERT_TRUE(time.has_value()) << text;
    EXPECT_EQ(time->local, kAfternoon) << text;
    EXPECT_EQ(time->zone, zone) << text;
  }
}

TEST(TimeText, DayAndMonthAreNotMixedUp) {
  EXPECT_FALSE(ParseCalendarTime("03/04/2026", Order::kNotSaid).has_value());
  const auto april = ParseCalendarTime("03/04/2026", Order::kDayFirst);
  const auto march = ParseCalendarTime("03/04/2026", Order::kMonthFirst);
  ASSERT_TRUE(april && march);
  EXPECT_EQ(april->local - march->local, 31 * 86400 - 86400);
  EXPECT_FALSE(ParseCalendarTime("23/11/2026", Order::kMonthFirst).has_value());
}

TEST(TimeText, WhatIsNoTime) {
  for (const char* text : {"", "14:05", "2026-02-30", "1969-12-31", "2026-11-23 25:00:00",
                           "2026-11-23 14:05 nonsense", "23.11.26", "2026-11", "2026-1-1-1"}) {
    EXPECT_FALSE(ParseCalendarTime(text, Order::kDayFirst).has_value()) << text;
  }
}

TimeStyle StyleOf(const std::vector<const char*>& values) {
  TimeSurvey survey;
  for (const char* value : values) survey.Look(value, DecimalMark::kPoint);
  return survey.Style({});
}

TEST(TimeText, AColumnTellsHowItIsWritten) {
  EXPECT_EQ(Description(StyleOf({"0", "60", "3600"})), "numbers in s");
  EXPECT_EQ(Description(StyleOf({"1795442700", "0", "1795442760"})), "s since 1970");
  EXPECT_EQ(Description(StyleOf({"1795442700123", "NULL"})), "ms since 1970");
  EXPECT_EQ(Description(StyleOf({"1795442700123456"})), "us since 1970");
  EXPECT_EQ(Description(StyleOf({"03/04/2026", "23/04/2026"})), "dates, day first");
  EXPECT_EQ(Description(StyleOf({"03/04/2026", "04/23/2026"})), "dates, month first");
  EXPECT_EQ(Description(StyleOf({"2026-11-23T14:05:00+01:00"})), "dates, zone +01:00");
}

TEST(TimeText, DigitsOfDatesAreDates) {
  EXPECT_EQ(Description(StyleOf({"20261101", "20261231"})), "dates");
  EXPECT_EQ(Description(StyleOf({"20261101140506", "0"})), "dates");
  EXPECT_EQ(Description(StyleOf({"20261101", "20261132"})), "numbers in s") << "no 32nd";
  TimeSurvey survey;
  survey.Look("20261101", DecimalMark::kPoint);
  EXPECT_EQ(Description(survey.Style(1)), "numbers in s") << "the column's name says so";
  const TimeStyle style = StyleOf({"20261123"});
  EXPECT_EQ(ReadTime("20261123", style, DecimalMark::kPoint), kAfternoon - 50700);
  EXPECT_EQ(ReadTime("202611231405", style, DecimalMark::kPoint), kAfternoon);
  EXPECT_EQ(ReadTime("20261123.0", style, DecimalMark::kPoint), kAfternoon - 50700);
}

TEST(TimeText, DaysOfExcelAreOpenUntilSaid) {
  EXPECT_TRUE(StyleOf({"46349.586805555555", "46350.25"}).open);
  EXPECT_TRUE(StyleOf({"46349", "46350"}).open);
  EXPECT_FALSE(StyleOf({"0", "46350.25"}).open) << "seconds from 0";
  EXPECT_FALSE(StyleOf({"40000", "46350"}).open) << "too many days";
  const auto said = TimeStyleNamed("excel");
  TimeSurvey survey;
  survey.Look("46349.586805555555", DecimalMark::kPoint);
  const TimeStyle style = survey.Style({}, said);
  EXPECT_EQ(ReadTime("46349.586805555555", style, DecimalMark::kPoint), kAfternoon);
  EXPECT_TRUE(style.calendar);
}

TEST(TimeText, TimesOfSeveralZonesAreInstants) {
  const TimeStyle style = StyleOf({"2026-10-25 02:30:00+02:00", "2026-10-25 02:30:00+01:00"});
  const auto summer = ReadTime("2026-10-25 02:30:00+02:00", style, DecimalMark::kPoint);
  const auto winter = ReadTime("2026-10-25 02:30:00+01:00", style, DecimalMark::kPoint);
  ASSERT_TRUE(summer && winter);
  EXPECT_EQ(*winter - *summer, 3600);
}

TEST(TimeText, RunTimes) {
  const std::vector<std::pair<const char*, double>> cases = {{"90", 90},
                                                             {"4.5", 4.5},
                                                             {"01:02:03", 3723},
                                                             {"127:00:00", 457200},
                                                             {"2-03:04:05", 183845},
                                                             {"0 days 01:02:03.5", 3723.5},
                                                             {"1 day, 2:03:04", 93784},
                                                             {"1h30m", 5400},
                                                             {"PT1H30M", 5400},
                                                             {"P1DT1H", 90000},
                                                             {"PT1M", 60},
                                                             {"P2W", 1209600},
                                                             {"PT1.5H", 5400},
                                                             {"250ms", 0.25}};
  for (const auto& [text, seconds] : cases) {
    const auto length = ReadLength(text, 1, DecimalMark::kPoint);
    ASSERT_TRUE(length.has_value()) << text;
    EXPECT_EQ(*length, seconds) << text;
  }
  for (const char* text : {"14:05", "1:61:00", "1:00:00:00", "m90", "1m1h", "-", "P", "P1M", "P1Y",
                           "PT", "P1DT", "P1H", "PT1D", "PT1M1H"}) {
    EXPECT_FALSE(ReadLength(text, 1, DecimalMark::kPoint).has_value()) << text;
  }
  EXPECT_EQ(ReadLength("1,5", 3600, DecimalMark::kComma), 5400);  // decimal comma
}

TEST(TimeText, NumbersWithMarkedThousands) {
  const auto number = [](const char* text, DecimalMark mark) {
    return ParseTableNumber(text, mark);
  };
  for (const DecimalMark mark : {DecimalMark::kPoint, DecimalMark::kComma, DecimalMark::kOpen}) {
    EXPECT_EQ(number("1,234,567", mark), 1234567);
    EXPECT_EQ(number("1,234.5", mark), 1234.5);
    EXPECT_FALSE(number("1,23,4", mark));
  }
  EXPECT_EQ(number("1,234", DecimalMark::kPoint), 1234);
  EXPECT_EQ(number("1,234", DecimalMark::kComma), 1.234);
  EXPECT_FALSE(number("1,234", DecimalMark::kOpen));
  EXPECT_EQ(number("3,5", DecimalMark::kOpen), 3.5);
  EXPECT_FALSE(number("3,5", DecimalMark::kPoint));
  EXPECT_EQ(number("1.234,5", DecimalMark::kComma), 1234.5);
}

TEST(TimeText, AColumnShowsItsDecimalMark) {
  const auto mark = [](char separator, const std::vector<const char*>& fields) {
    DecimalSurvey survey(separator);
    for (const char* field : fields) survey.Look(field);
    return survey.mark();
  };
  EXPECT_EQ(mark(',', {"3.5"}), DecimalMark::kPoint);
  EXPECT_EQ(mark(';', {"1,234"}), DecimalMark::kComma);
  EXPECT_EQ(mark(';', {"1,234", "1,234,567"}), DecimalMark::kPoint);
  EXPECT_EQ(mark('\t', {"1,234"}), DecimalMark::kOpen);
  EXPECT_EQ(mark('\t', {"1,234", "3.5"}), DecimalMark::kPoint);
  EXPECT_EQ(mark('\t', {"1,234", "3,5"}), DecimalMark::kComma);
}

TEST(TimeText, UnitsInNames) {
  EXPECT_EQ(UnitInName("run_ms"), 1e-3);
  EXPECT_EQ(UnitInName("Duration (min)"), 60);
  EXPECT_EQ(UnitInName("Laufzeit [h]"), 3600);
  EXPECT_EQ(UnitInName("elapsed"), std::nullopt);
  EXPECT_EQ(UnknownUnitInName("Rechenzeit (Std)"), "Std");
  EXPECT_EQ(UnknownUnitInName("Laufzeit [h]"), "");
  EXPECT_EQ(UnknownUnitInName("elapsed"), "");
}

TEST(TimeText, DatesWithTheNameOfTheMonth) {
  const auto wanted = ParseCalendarTime("2026-10-01 10:00:00", TimeStyle::Order::kNotSaid)->local;
  for (const char* text : {"Thu Oct  1 10:00:00 2026", "Oct 1 10:00:00 2026",
                           "Oct  1 10:00:00 2026 L", "oct 01 10:00 2026"}) {
    const auto time = ParseCalendarTime(text, TimeStyle::Order::kNotSaid);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(time->local, wanted) << text;
  }
  for (const char* text : {"Oct 1 10:00", "Okt 1 10:00:00 2026", "Oct 32 10:00:00 2026",
                           "Oct 1 25:00:00 2026", "Oct 1 10:00:00 26"}) {
    EXPECT_FALSE(ParseCalendarTime(text, TimeStyle::Order::kNotSaid)) << text;
  }
}

}  // namespace
}  // namespace allot
