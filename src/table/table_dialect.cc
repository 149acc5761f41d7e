#include "table/table_dialect.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/strings.h"
#include "table/byte_order_mark.h"

namespace allot {
namespace {

constexpr std::size_t kLinesToLookAt = 50;
constexpr std::string_view kSeparatorLine = "sep=";
constexpr std::array<char, 4> kSeparators = {',', ';', '\t', '|'};

// How often `separator` stands in each of the first lines, outside of quotes.
std::vector<int> CountsByLine(std::string_view text, char separator) {
  std::vector<int> counts;
  bool quoted = false;
  bool empty = true;
  int count = 0;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '\n' || c == '\r')) {
      if (!empty) counts.push_back(count);
      count = 0;
      empty = true;
      if (counts.size() == kLinesToLookAt) return counts;
      continue;
    }
    empty = false;
    if (!quoted && c == separator) ++count;
  }
  if (!empty) counts.push_back(count);
  return counts;
}

// Whether `thousands` divides all digits before a `decimal` into threes, at least once.
bool IsGrouped(std::string_view text, char thousands, char decimal) {
  constexpr std::string_view kDigits = "0123456789";
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find(decimal), text.size());
  if (end < text.size() && text.find_first_not_of(kDigits, end + 1) != std::string_view::npos) {
    return false;
  }
  const auto groups = Split(text.substr(0, end), thousands);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool fits = i == 0 ? !groups[i].empty() && groups[i].size() <= 3 : groups[i].size() == 3;
    if (!fits || groups[i].find_first_not_of(kDigits) != std::string_view::npos) return false;
  }
  return groups.size() > 1;
}

}  // namespace

std::optional<TableDialect> FindDialect(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::string_view first = text.substr(0, text.find_first_of("\r\n"));
  if (first.size() == kSeparatorLine.size() + 1 && first.starts_with(kSeparatorLine)) {
    return TableDialect{first.back(), 1};
  }
  std::optional<TableDialect> best;
  int best_score = 0;
  for (const char separator : kSeparators) {
    const std::vector<int> counts = CountsByLine(text, separator);
    if (counts.empty() || counts.front() == 0) continue;
    const auto alike = std::count(counts.begin(), counts.end(), counts.front());
    // Of 100: how many lines are like the first; then the number of columns.
    const int score =
        static_cast<int>(100 * alike / static_cast<std::ptrdiff_t>(counts.size())) * 1000 +
        std::min(counts.front(), 999);
    if (score > best_score) {
      best = TableDialect{separator, 0};
      best_score = score;
    }
  }
  return best;
}

std::vector<std::string_view> SplitAtBlanks(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  std::size_t begin = line.find_first_not_of(kBlanks);
  while (begin < line.size()) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

void DecimalSurvey::Look(std::string_view field) {
  if (separator_ == ',' || field.empty() ||
      field.find_first_not_of("0123456789.,+-") != std::string_view::npos) {
    return;
  }
  const auto commas = std::count(field.begin(), field.end(), ',');
  const auto points = std::count(field.begin(), field.end(), '.');
  if (commas == 0) {
    point_ = point_ || (points == 1 && ParseNumber(field) && !IsGrouped(field, '.', ','));
  } else if (IsGrouped(field, ',', '.')) {
    thousands_ = thousands_ || commas > 1 || points > 0;
  } else {
    comma_ = comma_ || ParseTableNumber(field, DecimalMark::kComma);
  }
}

DecimalMark DecimalSurvey::mark() const {
  if (separator_ == ',') return DecimalMark::kPoint;
  if (comma_) return DecimalMark::kComma;
  if (thousands_) return DecimalMark::kPoint;
  if (separator_ == ';') return DecimalMark::kComma;
  return point_ ? DecimalMark::kPoint : DecimalMark::kOpen;
}

std::optional<double> ParseTableNumber(std::string_view text, DecimalMark mark) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto commas = std::count(text.begin(), text.end(), ',');
  if (commas == 0) return ParseNumber(text);
  std::string plain(text);
  if (IsGrouped(text, ',', '.')) {
    const bool sure = commas > 1 || text.find('.') != std::string_view::npos;
    if (sure || mark == DecimalMark::kPoint) {
      std::erase(plain, ',');
      return ParseNumber(plain);
    }
    if (mark == DecimalMark::kOpen) return std::nullopt;
  }
  if (mark == DecimalMark::kPoint) return std::nullopt;
  std::erase(plain, '.');
  plain[plain.find(',')] = '.';
  return ParseNumber(plain);
}

bool IsMissing(std::string_view text) {
  static constexpr std::array<std::string_view, 14> kWords = {
      "",    "-",   "--",   "?",    "n/a",     "na",        "nan",
      "nat", "nil", "none", "null", "unknown", "undefined", "\\n"};
  const std::string lower = ToLower(Trim(text));
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

}  // namespace allot
