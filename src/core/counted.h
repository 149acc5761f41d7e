#pragma once
// Counted things in texts for people: "1 job", "2 jobs", "3 policies".

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace allot {

// The noun as it stands behind a count: "job" of 1, else "jobs", "policies".
inline std::string NounFor(std::int64_t count, std::string_view noun) {
  std::string word(noun);
  if (count == 1 || word.empty()) return word;
  constexpr std::string_view kVowels = "aeiou";
  const bool after_consonant =
      word.size() > 1 && kVowels.find(word[word.size() - 2]) == std::string_view::npos;
  if (word.back() == 'y' && after_consonant) {
    word.back() = 'i';
    return word + "es";
  }
  return word + (word.back() == 's' || word.back() == 'x' ? "es" : "s");
}

inline std::string Counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}", count, NounFor(count, noun));
}

}  // namespace allot
