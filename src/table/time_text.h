#pragma once
// Points in time as tables of people, databases and schedulers write them. How a whole column is
// written is found from all of its values, as one value may be read in several ways: 03/04/2026,
// 1700000000.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/types.h"
#include "table/table_dialect.h"

namespace allot {

// Numbers between these, 1989 and 2128, count as times since 1970.
inline constexpr Seconds kFirstEpoch = 6e8, kLastEpoch = 5e9;

// How the times of a column are written.
struct TimeStyle {
  enum class Order { kNotSaid, kDayFirst, kMonthFirst };  // of 03/04/2026
  Order order = Order::kNotSaid;
  double unit = 1;     // seconds that 1 of a plain number is
  double zero = 0;     // seconds from 1970 to the 0 of an epoch: Excel's is 1899-12-30
  bool epoch = false;  // plain numbers count from 1970, and 0 is none; else from the trace's zero
  bool open = false;   // plain numbers that may be Excel's days, 46327.5, or seconds
  bool calendar = false;      // values are dates or epochs, not spans from the trace's zero
  std::optional<int> zone{};  // seconds from UTC that times with a zone are turned into
};

// "s", "ms", "us", "min", "h", "excel" (of plain numbers), "dmy", "mdy" (of dates with the year
// last): what a user may say of a column. nullopt for any other word.
std::optional<TimeStyle> TimeStyleNamed(std::string_view word);
// For people: "dates, day first".
std::string Description(const TimeStyle& style);

// A calendar time:
//   2026-11-23 14:05[:06[.5]]  2026-11-23T14:05:06  20261123T140506  2026/11/23  23.11.2026 14:05
//   23/11/2026 14:05  11/23/2026 2:05 PM  2026-11-23, 20261123: midnight
// and behind it perhaps Z, UTC, GMT, +01:00, +0100 or +01.
struct CalendarTime {
  double local = 0;           // seconds since 1970-01-01 00:00:00 of its own zone
  std::optional<int> zone{};  // seconds from UTC, if said
};
// nullopt for what is no such time, for dates that do not exist, before 1970, or that `order`
// leaves open.
std::optional<CalendarTime> ParseCalendarTime(std::string_view text, TimeStyle::Order order);

// The writings above, for messages.
extern const std::string_view kTimeForms;

// Looks at the values of one column, one after the other.
class TimeSurvey {
 public:
  void Look(std::string_view text, DecimalMark mark);
  // Of a column of numbers: as `said` of Excel's days. Else digits that are all dates, 20261123 or
  // 20261123140506, are dates where no `unit` is known. Else epochs are recognised by their size:
  // none but 0 and negative ones before 1989, and at least half of them from then to 2128, as s,
  // ms, us or ns (what lies later stands for "never" in some programs). Else numbers have `unit`,
  // or 1 s.
  TimeStyle Style(std::optional<double> unit, const std::optional<TimeStyle>& said = {}) const;
  int values() const { return numbers_ + dates_ + others_; }
  int understood() const { return numbers_ + dates_; }
  int dates() const { return dates_; }
  double least() const { return least_; }  // of numbers other than 0
  double most() const { return most_; }
  bool rises() const { return rises_; }  // each at least the one before; of numbers

 private:
  bool LooksLikeExcel() const;

  int numbers_ = 0, dates_ = 0, others_ = 0;
  int zeros_ = 0, digits_of_dates_ = 0, fractions_ = 0;  // among the numbers
  double least_ = 0, most_ = 0;                          // of numbers other than 0
  double least_positive_ = 0;
  std::array<int, 4> in_epoch_{};  // numbers from 1989 to 2128 as s, ms, us, ns since 1970
  double last_ = -1e300;
  bool rises_ = true;
  bool first_over_12_ = false, second_over_12_ = false;
  std::optional<int> zone_;
};

// Of a time since 1970 that no job has: why; "" where one can have it.
std::string UnlikelyTime(Seconds time, const TimeStyle& style);

// Seconds: from 1970 where the style is of the calendar, else from the trace's zero. nullopt for
// what is not written so.
std::optional<Seconds> ReadTime(std::string_view text, const TimeStyle& style, DecimalMark mark);

}  // namespace allot
