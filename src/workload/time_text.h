#pragma once
// Points in time and run times as tables of people, databases and schedulers write them. How a
// whole column is written is found from all of its values, as one value may be read in several
// ways: 03/04/2026, 1700000000.

#include <optional>
#include <string>
#include <string_view>

#include "core/types.h"

namespace allot {

// How the times of a column are written.
struct TimeStyle {
  enum class Order { kNotSaid, kDayFirst, kMonthFirst };  // of 03/04/2026
  Order order = Order::kNotSaid;
  double unit = 1;     // seconds that 1 of a plain number is
  bool epoch = false;  // plain numbers count from 1970, and 0 is none; else from the trace's zero
  bool calendar = false;      // values are dates or epochs, not spans from the trace's zero
  std::optional<int> zone{};  // seconds from UTC that times with a zone are turned into
};

// "s", "ms", "us", "min", "h" (of plain numbers), "dmy", "mdy" (of dates with the year last): what
// a user may say of a column. nullopt for any other word.
std::optional<TimeStyle> TimeStyleNamed(std::string_view word);
// The other way, "" where nothing needs to be said; and for people: "dates, day first".
std::string NameOf(const TimeStyle& style);
std::string Description(const TimeStyle& style);

// A calendar time:
//   2026-11-23 14:05[:06[.5]]  2026-11-23T14:05:06  20261123T140506  2026/11/23  23.11.2026 14:05
//   23/11/2026 14:05  11/23/2026 2:05 PM  2026-11-23, midnight
// and behind it perhaps Z, UTC, GMT, +01:00, +0100 or +01.
struct CalendarTime {
  double local = 0;           // seconds since 1970-01-01 00:00:00 of its own zone
  std::optional<int> zone{};  // seconds from UTC, if said
};
// nullopt for what is no such time, for dates that do not exist, before 1970, or that `order`
// leaves open.
std::optional<CalendarTime> ParseCalendarTime(std::string_view text, TimeStyle::Order order);

// Looks at the values of one column, one after the other.
class TimeSurvey {
 public:
  // `separator` of the table, for numbers (ParseTableNumber).
  void Look(std::string_view text, char separator);
  // Epochs are told by their size: all but 0 between 1989 and 2128 as s, ms, us or ns. Else plain
  // numbers have `unit`.
  TimeStyle Style(double unit) const;
  int values() const { return numbers_ + dates_ + others_; }
  int understood() const { return numbers_ + dates_; }
  int dates() const { return dates_; }
  bool rises() const { return rises_; }  // each at least the one before; of numbers

 private:
  int numbers_ = 0, dates_ = 0, others_ = 0;
  double least_ = 0, most_ = 0;  // of numbers other than 0
  double last_ = -1e300;
  bool rises_ = true;
  bool first_over_12_ = false, second_over_12_ = false;
  std::optional<int> zone_;
};

// Seconds: from 1970 where the style is of the calendar, else from the trace's zero. nullopt for
// what is not written so.
std::optional<Seconds> ReadTime(std::string_view text, const TimeStyle& style, char separator);

// Run times: a number of `unit` seconds, [D-]HH:MM:SS[.5], "1 day, 2:03:04", "1h30m", PT1H30M.
std::optional<Seconds> ReadLength(std::string_view text, double unit, char separator);

// The unit that a column's name ends with: "run_ms", "Duration (min)", "hours"; nullopt: none.
std::optional<double> UnitInName(std::string_view column);
// "s", "ms", "us", "min", "h", "d" -> seconds; nullopt for any other word.
std::optional<double> UnitNamed(std::string_view word);
std::string NameOfUnit(double unit);  // "" of a second

}  // namespace allot
