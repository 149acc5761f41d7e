#include "core/strings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace allot {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string_view Trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

namespace {

// A character of two or three bytes of UTF-8 at the beginning of `text`; 0: none.
char32_t ShortCharacter(std::string_view text) {
  const auto bits = [&](std::size_t at) {
    const auto byte = at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    return (byte & 0xC0U) == 0x80U ? byte & 0x3FU : 0x100U;  // above all: no such byte
  };
  const auto first = static_cast<unsigned char>(text.front());
  const unsigned second = bits(1);
  const unsigned third = bits(2);
  if (first >= 0xC2 && first < 0xE0 && second < 0x100) return (first & 0x1FU) << 6 | second;
  const bool three = first >= 0xE0 && first < 0xF0 && second < 0x100 && third < 0x100;
  return three ? (first & 0x0FU) << 12 | second << 6 | third : 0;
}

// Unicode's category Cf as far as it changes what other characters look like, and line separators.
bool IsFormat(char32_t c) {
  return c == 0x061C || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const char32_t character = ShortCharacter(text.substr(i));
    if (byte < ' ' || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else if (character >= 0x80 && character < 0xA0) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned>(character));
      ++i;
    } else if (IsFormat(character)) {
      shown += fmt::format("\\u{:04x}", static_cast<unsigned>(character));
      i += character < 0x800 ? 1 : 2;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<long long> ParseInteger(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

namespace {

// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment): "srft"
// is one step from "srtf".
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

// The candidate that shares the longest beginning with the word: all of it but the last letter,
// and three letters at least. Dashes are no letters.
const std::string* BeginsAlike(std::string_view word, const std::vector<std::string>& candidates) {
  const auto letters = [](std::string_view text) {
    return text.substr(std::min(text.find_first_not_of('-'), text.size()));
  };
  const std::string_view typed = letters(word);
  const std::string* best = nullptr;
  std::size_t longest = std::max<std::size_t>(4, typed.size()) - 2;
  for (const std::string& candidate : candidates) {
    const std::string lower = ToLower(candidate);
    const std::string_view known = letters(lower);
    const auto differ = std::mismatch(typed.begin(), typed.end(), known.begin(), known.end());
    const auto common = static_cast<std::size_t>(differ.first - typed.begin());
    if (common > longest) {
      longest = common;
      best = &candidate;
    }
  }
  return best;
}

}  // namespace

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  const std::string typed = ToLower(word);
  std::size_t best_distance = std::max<std::size_t>(2, typed.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(typed, ToLower(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = &candidate;
    }
  }
  if (best == nullptr) best = BeginsAlike(typed, candidates);
  if (best != nullptr) return fmt::format(" (did you mean '{}'?)", *best);
  return fmt::format("; known: {}", fmt::join(candidates, ", "));
}

}  // namespace allot
