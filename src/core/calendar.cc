#include "core/calendar.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace allot {
namespace {

constexpr int kDay = 86400;

// `pattern` has a '9' where a digit must stand; everything else stands for itself.
bool Matches(std::string_view text, std::string_view pattern) {
  if (text.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == '9' ? !digit : text[i] != pattern[i]) return false;
  }
  return true;
}

int Digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (const char c : text.substr(at, count)) value = 10 * value + (c - '0');
  return value;
}

}  // namespace

std::optional<std::int64_t> ParseCalendar(std::string_view text) {
  const bool with_time = Matches(text, "9999-99-99 99:99:99");
  if (!with_time && !Matches(text, "9999-99-99")) return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year{Digits(text, 0, 4)},
      std::chrono::month{static_cast<unsigned>(Digits(text, 5, 2))},
      std::chrono::day{static_cast<unsigned>(Digits(text, 8, 2))}};
  if (!date.ok() || date.year() < std::chrono::year{1970}) return std::nullopt;
  const std::int64_t day = std::chrono::sys_days{date}.time_since_epoch().count();
  if (!with_time) return day * kDay;
  const int hour = Digits(text, 11, 2), minute = Digits(text, 14, 2), second = Digits(text, 17, 2);
  if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return day * kDay + hour * 3600 + minute * 60 + second;
}

std::optional<ZonedTime> ParseZonedCalendar(std::string_view text) {
  constexpr std::size_t kLocal = 19;  // characters before the zone
  if (text.size() <= kLocal) return std::nullopt;
  const std::string_view zone = text.substr(kLocal);
  const auto local = ParseCalendar(text.substr(0, kLocal));
  if (!local || (!Matches(zone, "+99:99") && !Matches(zone, "-99:99"))) return std::nullopt;
  const int hours = Digits(zone, 1, 2), minutes = Digits(zone, 4, 2);
  if (hours > 14 || minutes > 59) return std::nullopt;
  const int seconds = hours * 3600 + minutes * 60;
  return ZonedTime{*local, zone.front() == '-' ? -seconds : seconds};
}

std::string FormatCalendar(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds{seconds}};
  const auto midnight = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{midnight};
  const std::chrono::hh_mm_ss clock{time - midnight};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

bool BeginsLikeDate(std::string_view text) {
  return Matches(text.substr(0, std::min<std::size_t>(text.size(), 10)), "9999-99-99");
}

}  // namespace allot
