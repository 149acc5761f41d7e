#pragma once
// Small text helpers: splitting, strict number parsing, and "did you mean".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

std::vector<std::string_view> Split(std::string_view text, char separator);
std::string_view Trim(std::string_view text);
std::string ToLower(std::string_view text);  // ASCII
std::string Join(const std::vector<std::string>& parts, std::string_view separator);

// Without characters that terminals obey: control characters as \x1b, format ones as \u202e.
std::string Printable(std::string_view text);

// The whole text must be one finite number; nullopt otherwise ("", "1x", "nan", "inf").
std::optional<double> ParseNumber(std::string_view text);
std::optional<long long> ParseInteger(std::string_view text);

// " (did you mean 'fifo'?)" when a candidate is near (a third of the word's letters wrong, or two)
// or begins as the word does, whatever the capitals, else "; known: a, b, c".
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace allot
