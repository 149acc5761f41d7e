#include "table/length_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/duration_text.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr double kSecondsPerHour = 3600, kSecondsPerDay = 86400;

constexpr std::array<std::pair<std::string_view, double>, 6> kUnitWords = {
    {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"h", 3600}, {"d", kSecondsPerDay}}};

// ISO 8601: weeks, days and parts of days in their order, after 'P'.
std::optional<Seconds> ParseIsoLength(std::string_view text) {
  struct Unit {
    char letter;
    bool of_clock;  // stands after 'T'
    double seconds;
  };
  static constexpr std::array<Unit, 5> kIsoUnits = {{{'w', false, 7 * kSecondsPerDay},
                                                     {'d', false, kSecondsPerDay},
                                                     {'h', true, kSecondsPerHour},
                                                     {'m', true, 60},
                                                     {'s', true, 1}}};
  const std::string lower = ToLower(text.substr(1));
  std::string_view rest = lower;
  double sum = 0;
  bool clock = false, any = false;
  auto unit = kIsoUnits.begin();
  while (!rest.empty()) {
    if (!clock && rest.front() == 't') {
      clock = true;
      any = false;
      rest.remove_prefix(1);
      continue;
    }
    const std::size_t end = std::min(rest.find_first_not_of("0123456789.,"), rest.size());
    const auto count = ParseTableNumber(rest.substr(0, end), DecimalMark::kComma);
    if (!count || end == rest.size()) return std::nullopt;
    unit = std::find_if(unit, kIsoUnits.end(), [&](const Unit& each) {
      return each.letter == rest[end] && each.of_clock == clock;
    });
    if (unit == kIsoUnits.end()) return std::nullopt;
    sum += *count * unit++->seconds;
    any = true;
    rest.remove_prefix(end + 1);
  }
  return any ? std::optional(sum) : std::nullopt;
}

}  // namespace

std::optional<Seconds> ReadLength(std::string_view text, double unit, DecimalMark mark) {
  text = Trim(text);
  if (const auto number = ParseTableNumber(text, mark)) return *number * unit;
  if (text.starts_with('P') || text.starts_with('p')) return ParseIsoLength(text);
  std::string plain(text);
  // "1 day, 2:03:04" of Python is 1-2:03:04; a comma elsewhere is a decimal mark.
  const std::size_t day = plain.find("day");
  const std::size_t clock = plain.find_last_of(", ");
  if (day != std::string::npos && clock != std::string::npos && clock > day &&
      plain.find(':') != std::string::npos) {
    plain = std::string(Trim(text.substr(0, day))) + "-" + plain.substr(clock + 1);
  }
  if (plain.find(':') != std::string::npos) std::replace(plain.begin(), plain.end(), ',', '.');
  return ParseDuration(plain);
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
      {"d", kSecondsPerDay},
      {"day", kSecondsPerDay},
      {"days", kSecondsPerDay},
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

std::string_view UnknownUnitInName(std::string_view column) {
  column = Trim(column);
  if (!column.ends_with(')') && !column.ends_with(']')) return "";
  if (UnitInName(column)) return "";
  const std::size_t open = column.find_last_of("([");
  if (open == std::string_view::npos) return "";
  return Trim(column.substr(open + 1, column.size() - open - 2));
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
