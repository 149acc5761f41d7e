#include "core/duration_text.h"

#include <array>
#include <cmath>
#include <utility>

#include "core/strings.h"

namespace allot {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 21> kUnitsOfTime = {{
    {"ms", 0.001},     {"s", 1},     {"sec", 1},     {"secs", 1},     {"second", 1},
    {"seconds", 1},    {"m", 60},    {"min", 60},    {"mins", 60},    {"minute", 60},
    {"minutes", 60},   {"h", 3600},  {"hr", 3600},   {"hrs", 3600},   {"hour", 3600},
    {"hours", 3600},   {"d", 86400}, {"day", 86400}, {"days", 86400}, {"w", 604800},
    {"weeks", 604800},
}};

std::optional<double> UnitOfTime(std::string_view word) {
  for (const auto& [name, seconds] : kUnitsOfTime) {
    if (name == word) return seconds;
  }
  return std::nullopt;
}

bool IsDigitOrPoint(char c) { return (c >= '0' && c <= '9') || c == '.'; }

}  // namespace

std::optional<double> ParseDuration(std::string_view text) {
  text = Trim(text);
  if (const auto seconds = ParseNumber(text)) return seconds;
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
