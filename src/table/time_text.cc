#include "table/time_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/strings.h"
#include "table/length_text.h"

namespace allot {
namespace {

constexpr int kHourSeconds = 3600;
constexpr double kDayLength = 86400;
constexpr std::array<double, 4> kEpochUnits = {1.0, 1e-3, 1e-6, 1e-9};
constexpr int kFarthestZone = 15 * kHourSeconds;
constexpr TimeStyle kExcelStyle = {
    .unit = kDayLength, .zero = -25569 * kDayLength, .epoch = true, .calendar = true};

// Reads a text from the left, part by part.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // A whole number of `least` to `most` digits.
  std::optional<int> Digits(std::size_t least, std::size_t most) {
    std::size_t count = 0;
    int value = 0;
    while (count < most && count < text_.size() && text_[count] >= '0' && text_[count] <= '9') {
      value = 10 * value + (text_[count++] - '0');
    }
    if (count < least) return std::nullopt;
    text_.remove_prefix(count);
    return value;
  }
  bool Take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::size_t leading_digits() const {
    return std::min(text_.find_first_not_of("0123456789"), text_.size());
  }
  char next() const { return text_.empty() ? '\0' : text_.front(); }
  bool done() const { return text_.empty(); }

 private:
  std::string_view text_;
};

struct Date {
  int year = 0, month = 0, day = 0;
  bool year_last = false;
  int first = 0, second = 0;  // of dates with the year last, as they stand
  char mark = 0;
};

std::optional<Date> ScanDate(Scanner& scan, TimeStyle::Order order) {
  Date date;
  const std::size_t digits = scan.leading_digits();
  if (digits == 8) {
    date.year = *scan.Digits(4, 4);
    date.month = *scan.Digits(2, 2);
    date.day = *scan.Digits(2, 2);
    return date;
  }
  date.mark = '-';
  const auto a = scan.Digits(1, 4);
  if (!a) return std::nullopt;
  date.mark = scan.next();
  const std::string mark(1, date.mark);
  if (mark != "-" && mark != "/" && mark != ".") return std::nullopt;
  if (!scan.Take(mark)) return std::nullopt;
  const auto b = scan.Digits(1, 2);
  if (!b || !scan.Take(mark)) return std::nullopt;
  const bool year_first = digits == 4;
  const auto c = scan.Digits(year_first ? 1 : 4, year_first ? 2 : 4);
  if (!c || (!year_first && digits > 2)) return std::nullopt;
  if (year_first) {
    date.year = *a;
    date.month = *b;
    date.day = *c;
    return date;
  }
  date.year_last = true;
  date.first = *a;
  date.second = *b;
  date.year = *c;
  const bool day_first = date.mark == '.' || order == TimeStyle::Order::kDayFirst ||
                         (order == TimeStyle::Order::kNotSaid && (*a > 12 || *a == *b));
  const bool open =
      date.mark != '.' && order == TimeStyle::Order::kNotSaid && *a <= 12 && *b <= 12 && *a != *b;
  if (open) return std::nullopt;
  date.day = day_first ? *a : *b;
  date.month = day_first ? *b : *a;
  return date;
}

// Seconds since midnight; nullopt: no time of day.
std::optional<double> ScanClock(Scanner& scan, bool compact) {
  const auto hour = scan.Digits(compact ? 2 : 1, 2);
  if (!hour || (!compact && !scan.Take(":"))) return std::nullopt;
  const auto minute = scan.Digits(2, 2);
  if (!minute) return std::nullopt;
  double second = 0;
  if (compact ? scan.leading_digits() > 0 : scan.Take(":")) {
    const auto whole = scan.Digits(2, 2);
    if (!whole) return std::nullopt;
    second = *whole;
    if (scan.Take(".") || scan.Take(",")) {
      const std::size_t digits = scan.leading_digits();
      if (digits == 0) return std::nullopt;
      const auto fraction = scan.Digits(1, 9);
      second += *fraction / std::pow(10, std::min<std::size_t>(digits, 9));
      while (scan.leading_digits() > 0) scan.Digits(1, 9);
    }
  }
  int of_day = *hour;
  const bool morning = scan.Take(" AM") || scan.Take("AM") || scan.Take(" am");
  const bool evening = !morning && (scan.Take(" PM") || scan.Take("PM") || scan.Take(" pm"));
  if ((morning || evening) && (of_day < 1 || of_day > 12)) return std::nullopt;
  if (morning || evening) of_day = of_day % 12 + (evening ? 12 : 0);
  if (of_day > 23 || *minute > 59 || second >= 61) return std::nullopt;
  return of_day * double{kHourSeconds} + *minute * 60.0 + std::min(second, 59.999999);
}

// False where something stands there that is no zone.
bool ScanZone(Scanner& scan, std::optional<int>* zone) {
  scan.Take(" ");
  if (scan.done()) return true;
  if (scan.Take("Z") || scan.Take("UTC") || scan.Take("GMT")) {
    *zone = 0;
    return scan.done();
  }
  const bool west = scan.next() == '-';
  if (!scan.Take("+") && !scan.Take("-")) return false;
  const auto hours = scan.Digits(2, 2);
  if (!hours) return false;
  scan.Take(":");
  const int minutes = scan.done() ? 0 : scan.Digits(2, 2).value_or(60);
  const int seconds = *hours * kHourSeconds + minutes * 60;
  if (minutes > 59 || seconds > kFarthestZone || !scan.done()) return false;
  *zone = west ? -seconds : seconds;
  return true;
}

// "20261123", "202611231405", "20261123140506", and with ".0" as pandas writes whole numbers.
std::optional<CalendarTime> DateOfDigits(std::string_view text) {
  constexpr std::size_t kDate = 8, kToMinutes = 12, kToSeconds = 14;
  text = Trim(text);
  if (text.ends_with(".0")) text.remove_suffix(2);
  const bool fits = text.size() == kDate || text.size() == kToMinutes || text.size() == kToSeconds;
  if (!fits || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::string marked(text.substr(0, kDate));
  if (text.size() > kDate) marked.append("T").append(text.substr(kDate));
  const auto time = ParseCalendarTime(marked, TimeStyle::Order::kNotSaid);
  return time && time->local <= kLastEpoch ? time : std::nullopt;
}

// "Thu Oct  1 10:00:00 2026", as C's ctime and LSF write it, as "2026-10-01 10:00:00"; "" for
// others.
std::string WithoutNames(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kMonths = {
      "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
  if (text.empty() || (text.front() >= '0' && text.front() <= '9')) return "";
  std::vector<std::string_view> words = SplitAtBlanks(text);
  const auto month_of = [](std::string_view word) {
    return std::find(kMonths.begin(), kMonths.end(), ToLower(word)) - kMonths.begin();
  };
  constexpr std::size_t kWords = 4;  // month, day, time of day, year
  if (words.size() == kWords + 1 && words.back().size() == 1) words.pop_back();  // LSF's "L", "E"
  if (words.size() == kWords + 1) words.erase(words.begin());                    // the weekday
  if (words.size() != kWords) return "";
  const auto month = month_of(words[0]);
  const auto day = ParseInteger(words[1]);
  if (month == std::ssize(kMonths) || !day || words[3].size() != 4) return "";
  return fmt::format("{}-{:02}-{:02} {}", words[3], month + 1, *day, words[2]);
}

std::optional<Date> DateOf(std::string_view text) {
  Scanner scan(text);
  // Either order: only what stands where is asked.
  auto date = ScanDate(scan, TimeStyle::Order::kDayFirst);
  return date;
}

}  // namespace

const std::string_view kTimeForms =
    "2026-11-23 14:05:06 (or with T, a fraction or a zone behind it), 23.11.2026 14:05, "
    "23/11/2026 14:05, 11/23/2026 2:05 PM, Nov 23 14:05:06 2026, 20261123, or s, ms, us or ns "
    "since "
    "1970";

std::optional<TimeStyle> TimeStyleNamed(std::string_view word) {
  TimeStyle style;
  if (word == "excel") return kExcelStyle;
  if (word == "dmy" || word == "mdy") {
    style.order = word == "dmy" ? TimeStyle::Order::kDayFirst : TimeStyle::Order::kMonthFirst;
    return style;
  }
  const auto unit = UnitNamed(word);
  if (!unit) return std::nullopt;
  style.unit = *unit;
  return style;
}

std::string Description(const TimeStyle& style) {
  const std::string unit = NameOfUnit(style.unit).empty() ? "s" : NameOfUnit(style.unit);
  if (style.zero != 0) return "dates as Excel's days";
  if (style.open) return "numbers in s, or Excel's days";
  if (style.epoch) return fmt::format("{} since 1970", style.unit < 1e-8 ? "ns" : unit);
  if (!style.calendar) return fmt::format("numbers in {}", unit);
  std::string text = "dates";
  if (style.order == TimeStyle::Order::kDayFirst) text += ", day first";
  if (style.order == TimeStyle::Order::kMonthFirst) text += ", month first";
  if (style.zone) {
    const int minutes = std::abs(*style.zone) / 60;
    text += fmt::format(", zone {}{:02}:{:02}", *style.zone < 0 ? '-' : '+', minutes / 60,
                        minutes % 60);
  }
  return text;
}

std::optional<CalendarTime> ParseCalendarTime(std::string_view text, TimeStyle::Order order) {
  text = Trim(text);
  const std::string plain = WithoutNames(text);
  Scanner scan(plain.empty() ? text : plain);
  const auto date = ScanDate(scan, order);
  if (!date) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year{date->year},
                                        std::chrono::month{static_cast<unsigned>(date->month)},
                                        std::chrono::day{static_cast<unsigned>(date->day)}};
  if (!day.ok() || day.year() < std::chrono::year{1970}) return std::nullopt;
  CalendarTime time;
  time.local =
      kDayLength * static_cast<double>(std::chrono::sys_days{day}.time_since_epoch().count());
  if (scan.done()) return time;
  if (!scan.Take("T") && !scan.Take(", ") && !scan.Take(" ")) return std::nullopt;
  const auto clock = ScanClock(scan, date->mark == 0 && scan.leading_digits() > 2);
  if (!clock || !ScanZone(scan, &time.zone)) return std::nullopt;
  time.local += *clock;
  return time;
}

void TimeSurvey::Look(std::string_view text, DecimalMark mark) {
  if (IsMissing(text)) return;
  if (const auto number = ParseTableNumber(text, mark)) {
    ++numbers_;
    if (*number == 0) {
      ++zeros_;
      return;
    }
    if (DateOfDigits(text)) ++digits_of_dates_;
    if (*number != std::floor(*number)) ++fractions_;
    for (std::size_t i = 0; i < kEpochUnits.size(); ++i) {
      const double time = *number * kEpochUnits.at(i);
      if (time >= kFirstEpoch && time <= kLastEpoch) ++in_epoch_.at(i);
    }
    if (*number > 0 && (least_positive_ == 0 || *number < least_positive_)) {
      least_positive_ = *number;
    }
    least_ = least_ == 0 ? *number : std::min(least_, *number);
    most_ = most_ == 0 ? *number : std::max(most_, *number);
    rises_ = rises_ && *number >= last_;
    last_ = *number;
    return;
  }
  const auto time = ParseCalendarTime(text, TimeStyle::Order::kDayFirst);
  const auto other = time ? time : ParseCalendarTime(text, TimeStyle::Order::kMonthFirst);
  if (!other) {
    ++others_;
    return;
  }
  ++dates_;
  if (!zone_) zone_ = other->zone;
  if (const auto date = DateOf(Trim(text)); date && date->year_last) {
    first_over_12_ = first_over_12_ || date->first > 12 || date->mark == '.';
    second_over_12_ = second_over_12_ || date->second > 12;
  }
}

// Days between 1990 and 2100, over at most ten years, or a year of whole ones. Seconds from a
// trace's zero can look so, too; its first job at 0 then says so.
bool TimeSurvey::LooksLikeExcel() const {
  constexpr double kFirstDay = 32874, kLastDay = 73050, kTenYears = 3660, kYear = 366;
  return numbers_ > 0 && zeros_ == 0 && least_ >= kFirstDay && most_ <= kLastDay &&
         most_ - least_ <= (fractions_ > 0 ? kTenYears : kYear);
}

TimeStyle TimeSurvey::Style(std::optional<double> unit,
                            const std::optional<TimeStyle>& said) const {
  TimeStyle style;
  const bool digits =
      !unit && numbers_ > 0 && digits_of_dates_ == numbers_ - zeros_ && digits_of_dates_ > 0;
  if (dates_ > numbers_ || digits) {
    style.calendar = true;
    style.zone = zone_;
    if (first_over_12_ != second_over_12_) {
      style.order = first_over_12_ ? TimeStyle::Order::kDayFirst : TimeStyle::Order::kMonthFirst;
    }
    return style;
  }
  constexpr double kLastExcelDay = 2958465;  // 9999-12-31
  if (said && said->zero != 0 && most_ <= kLastExcelDay) return *said;
  style.unit = unit.value_or(1);
  for (std::size_t i = 0; i < kEpochUnits.size(); ++i) {
    const bool most = 2 * in_epoch_.at(i) >= numbers_ - zeros_;
    if (least_positive_ * kEpochUnits.at(i) < kFirstEpoch || !most) continue;
    style.unit = kEpochUnits.at(i);
    style.epoch = true;
    style.calendar = true;
  }
  style.open = !unit && !style.epoch && LooksLikeExcel();
  return style;
}

std::string UnlikelyTime(Seconds time, const TimeStyle& style) {
  if (!style.calendar || style.zero != 0) return "";
  if (style.epoch && time < kFirstEpoch) return "before 1989";
  if (time <= kLastEpoch) return "";
  constexpr double kLastYear = 253402300800;  // 10000-01-01
  if (time >= kLastYear) return "beyond the year 9999";
  const std::chrono::sys_seconds at{std::chrono::seconds{static_cast<std::int64_t>(time)}};
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(at)};
  return fmt::format("the year {}", static_cast<int>(day.year()));
}

std::optional<Seconds> ReadTime(std::string_view text, const TimeStyle& style, DecimalMark mark) {
  const auto number = ParseTableNumber(text, mark);
  if (number && (style.epoch || !style.calendar)) {
    const Seconds time = *number * style.unit + style.zero;
    // A day of Excel has too few digits for its microseconds.
    return style.zero == 0 ? time : std::round(time * 1000) / 1000;
  }
  if (!style.calendar || style.epoch) return std::nullopt;
  const auto time = number ? DateOfDigits(text) : ParseCalendarTime(text, style.order);
  if (!time) return std::nullopt;
  return time->local - time->zone.value_or(0) + (time->zone ? style.zone.value_or(0) : 0);
}

}  // namespace allot
