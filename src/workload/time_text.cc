#include "workload/time_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/duration_text.h"
#include "core/strings.h"
#include "workload/table_dialect.h"

namespace allot {
namespace {

constexpr int kHourSeconds = 3600;
constexpr double kDayLength = 86400;
constexpr double kFirstEpoch = 6e8, kLastEpoch = 5e9;  // 1989 and 2128
constexpr int kFarthestZone = 15 * kHourSeconds;

constexpr std::array<std::pair<std::string_view, double>, 6> kUnitWords = {
    {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"h", 3600}, {"d", kDayLength}}};

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

std::optional<Date> DateOf(std::string_view text) {
  Scanner scan(text);
  // Either order: only what stands where is asked.
  auto date = ScanDate(scan, TimeStyle::Order::kDayFirst);
  return date;
}

}  // namespace

std::optional<TimeStyle> TimeStyleNamed(std::string_view word) {
  TimeStyle style;
  if (word == "dmy" || word == "mdy") {
    style.order = word == "dmy" ? TimeStyle::Order::kDayFirst : TimeStyle::Order::kMonthFirst;
    return style;
  }
  const auto unit = UnitNamed(word);
  if (!unit) return std::nullopt;
  style.unit = *unit;
  return style;
}

std::string NameOf(const TimeStyle& style) {
  if (style.order == TimeStyle::Order::kDayFirst) return "dmy";
  if (style.order == TimeStyle::Order::kMonthFirst) return "mdy";
  return style.epoch ? "" : NameOfUnit(style.unit);
}

std::string Description(const TimeStyle& style) {
  const std::string unit = NameOfUnit(style.unit).empty() ? "s" : NameOfUnit(style.unit);
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
  Scanner scan(Trim(text));
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

void TimeSurvey::Look(std::string_view text, char separator) {
  if (IsMissing(text)) return;
  if (const auto number = ParseTableNumber(text, separator)) {
    ++numbers_;
    if (*number == 0) return;
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

TimeStyle TimeSurvey::Style(double unit) const {
  TimeStyle style;
  style.unit = unit;
  if (dates_ > numbers_) {
    style.calendar = true;
    style.unit = 1;
    style.zone = zone_;
    if (first_over_12_ != second_over_12_) {
      style.order = first_over_12_ ? TimeStyle::Order::kDayFirst : TimeStyle::Order::kMonthFirst;
    }
    return style;
  }
  for (const double epoch : {1.0, 1e-3, 1e-6, 1e-9}) {
    if (least_ * epoch < kFirstEpoch || most_ * epoch > kLastEpoch) continue;
    style.unit = epoch;
    style.epoch = true;
    style.calendar = true;
  }
  return style;
}

std::optional<Seconds> ReadTime(std::string_view text, const TimeStyle& style, char separator) {
  if (const auto number = ParseTableNumber(text, separator)) {
    if (style.calendar && !style.epoch) return std::nullopt;
    return *number * style.unit;
  }
  if (!style.calendar || style.epoch) return std::nullopt;
  const auto time = ParseCalendarTime(text, style.order);
  if (!time) return std::nullopt;
  return time->local - time->zone.value_or(0) + (time->zone ? style.zone.value_or(0) : 0);
}

std::optional<Seconds> ReadLength(std::string_view text, double unit, char separator) {
  text = Trim(text);
  if (const auto number = ParseTableNumber(text, separator)) return *number * unit;
  if (text.find(':') == std::string_view::npos) {
    std::string lower = ToLower(text);
    if (lower.starts_with('p')) std::erase_if(lower, [](char c) { return c == 'p' || c == 't'; });
    return ParseDuration(lower);
  }
  double days = 0;
  if (const std::size_t day = text.find("day"); day != std::string_view::npos) {
    const auto count = ParseInteger(Trim(text.substr(0, day)));
    text.remove_prefix(day + 3);
    if (text.starts_with('s')) text.remove_prefix(1);
    if (text.starts_with(',')) text.remove_prefix(1);
    text = Trim(text);
    if (!count) return std::nullopt;
    days = static_cast<double>(*count);
  } else if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto count = ParseInteger(text.substr(0, dash));
    if (!count) return std::nullopt;
    days = static_cast<double>(*count);
    text.remove_prefix(dash + 1);
  }
  const auto parts = Split(text, ':');
  if (parts.size() != 3) return std::nullopt;
  const auto hours = ParseInteger(parts[0]), minutes = ParseInteger(parts[1]);
  const auto seconds = ParseTableNumber(parts[2], ';');
  const bool fits = hours && minutes && seconds && *hours >= 0 && *minutes >= 0 && *minutes < 60 &&
                    *seconds >= 0 && *seconds < 61;
  if (!fits) return std::nullopt;
  return days * kDayLength + static_cast<double>(*hours) * kHourSeconds +
         static_cast<double>(*minutes) * 60 + *seconds;
}

std::optional<double> UnitInName(std::string_view column) {
  static constexpr std::array<std::pair<std::string_view, double>, 21> kEndings = {{
      {"ms", 1e-3},
      {"msec", 1e-3},
      {"millis", 1e-3},
      {"milliseconds", 1e-3},
      {"us", 1e-6},
      {"microseconds", 1e-6},
      {"s", 1},
      {"sec", 1},
      {"secs", 1},
      {"seconds", 1},
      {"min", 60},
      {"mins", 60},
      {"minutes", 60},
      {"h", 3600},
      {"hr", 3600},
      {"hrs", 3600},
      {"hours", 3600},
      {"d", kDayLength},
      {"day", kDayLength},
      {"days", kDayLength},
      {"minute", 60},
  }};
  std::string lower = ToLower(column);
  while (!lower.empty() && (lower.back() == ')' || lower.back() == ']')) lower.pop_back();
  const std::size_t mark = lower.find_last_of("_ -.([/");
  const std::string_view word = mark == std::string::npos
                                    ? std::string_view(lower)
                                    : std::string_view(lower).substr(mark + 1);
  // 's' and 'd' alone are names like others.
  if (mark == std::string::npos && word.size() < 3) return std::nullopt;
  for (const auto& [ending, unit] : kEndings) {
    if (word == ending) return unit;
  }
  return std::nullopt;
}

std::optional<double> UnitNamed(std::string_view word) {
  for (const auto& [name, unit] : kUnitWords) {
    if (name == word) return unit;
  }
  return std::nullopt;
}

std::string NameOfUnit(double unit) {
  if (unit == 1) return "";
  for (const auto& [name, seconds] : kUnitWords) {
    if (seconds == unit) return std::string(name);
  }
  return "";
}

}  // namespace allot
