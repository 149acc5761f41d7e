#include "core/duration_text.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "core/strings.h"

namespace allot {
namespace {

constexpr double kHourLength = 3600, kDayLengthSeconds = 86400;
constexpr double kWeekLength = 7 * kDayLengthSeconds;

constexpr std::array<std::pair<std::string_view, double>, 27> kUnitsOfTime = {{
    {"ms", 0.001},
    {"msec", 0.001},
    {"millisecond", 0.001},
    {"milliseconds", 0.001},
    {"s", 1},
    {"sec", 1},
    {"secs", 1},
    {"second", 1},
    {"seconds", 1},
    {"m", 60},
    {"min", 60},
    {"mins", 60},
    {"minute", 60},
    {"minutes", 60},
    {"h", kHourLength},
    {"hr", kHourLength},
    {"hrs", kHourLength},
    {"hour", kHourLength},
    {"hours", kHourLength},
    {"d", kDayLengthSeconds},
    {"day", kDayLengthSeconds},
    {"days", kDayLengthSeconds},
    {"w", kWeekLength},
    {"wk", kWeekLength},
    {"wks", kWeekLength},
    {"week", kWeekLength},
    {"weeks", kWeekLength},
}};

std::optional<double> UnitOfTime(std::string_view word) {
  for (const auto& [name, seconds] : kUnitsOfTime) {
    if (name == word) return seconds;
  }
  return std::nullopt;
}

bool IsDigitOrPoint(char c) { return (c >= '0' && c <= '9') || c == '.'; }

// [D-]HH:MM:SS[.5].
std::optional<double> ParseClock(std::string_view text) {
  double days = 0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto count = ParseInteger(text.substr(0, dash));
    if (!count || *count < 0) return std::nullopt;
    days = static_cast<double>(*count);
    text.remove_prefix(dash + 1);
  }
  const auto parts = Split(text, ':');
  if (parts.size() != 3) return std::nullopt;
  const auto hours = ParseInteger(parts[0]), minutes = ParseInteger(parts[1]);
  const auto seconds = ParseNumber(parts[2]);
  const bool fits = hours && minutes && seconds && *hours >= 0 && *minutes >= 0 && *minutes < 60 &&
                    *seconds >= 0 && *seconds < 61;  // a leap second
  if (!fits) return std::nullopt;
  return days * kDayLengthSeconds + static_cast<double>(*hours) * kHourLength +
         static_cast<double>(*minutes) * 60 + *seconds;
}

}  // namespace

std::optional<double> ParseDuration(std::string_view given) {
  const std::string lower = ToLower(Trim(given));
  std::string_view text = lower;
  if (const auto seconds = ParseNumber(text)) return seconds;
  if (text.find(':') != std::string_view::npos) return ParseClock(text);
  double sum = 0;
  double last_unit = INFINITY;
  int parts = 0;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  while (!text.empty()) {
    std::size_t digits = 0;
    while (digits < text.size() && IsDigitOrPoint(text[digits])) ++digits;
    const auto value = ParseNumber(text.substr(0, digits));
    text = Trim(text.substr(digits));
    std::size_t letters = 0;
    while (letters < text.size() && !IsDigitOrPoint(text[letters]) && text[letters] != ' ') {
      ++letters;
    }
    const auto unit = UnitOfTime(text.substr(0, letters));
    if (!value || !unit || !(*unit < last_unit)) return std::nullopt;
    sum += *value * *unit;
    last_unit = *unit;
    text = Trim(text.substr(letters));
    ++parts;
  }
  if (parts == 0 || (negative && parts > 1) || !std::isfinite(sum)) return std::nullopt;
  return negative ? -sum : sum;
}

}  // namespace allot
