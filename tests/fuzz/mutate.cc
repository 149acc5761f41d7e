#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <iterator>

#include "tests/fuzz/fuzz_target.h"

namespace allot {
namespace {

constexpr std::size_t kLongestPart = 60;
constexpr std::size_t kLongestInput = 16 * 1024;

const std::string kWords[] = {"\"",
                              "\"\"",
                              ",",
                              "\t",
                              "\n",
                              "\r\n",
                              "-",
                              "nan",
                              "-inf",
                              "1e999",
                              "1e-320",
                              "99999999999999999999",
                              "2147483648",
                              "1000001",
                              "{",
                              "}",
                              "[",
                              "]",
                              "null",
                              "\"None\"",
                              "\\",
                              "\xff",
                              "\xef\xbb\xbf",
                              std::string(1, '\0'),
                              "0",
                              "0.5",
                              ":",
                              "\\u0000",
                              "\\ud800",
                              "9999-12-31 23:59:59",
                              "0000-00-00 00:00:00",
                              "2017-02-29 24:00:60",
                              std::string(1, kCompanionMark)};

// A part of `text` from `at`.
std::size_t PartLength(const std::string& text, std::size_t at, Rng* rng) {
  return 1 + rng->Below(std::min(text.size() - at, kLongestPart));
}

void Edit(std::string* text, std::size_t begin, const std::vector<std::string>& others, Rng* rng) {
  if (text->size() <= begin) {
    *text += kWords[rng->Below(std::size(kWords))];
    return;
  }
  const std::size_t at = begin + rng->Below(text->size() - begin);
  const std::size_t length = PartLength(*text, at, rng);
  switch (rng->Below(8)) {
    case 0:
      (*text)[at] = static_cast<char>(rng->Below(256));
      break;
    case 1:
      text->insert(at, kWords[rng->Below(std::size(kWords))]);
      break;
    case 2:
      text->erase(at, length);
      break;
    case 3:
      text->insert(at, text->substr(at, length));
      break;
    case 4: {  // a field becomes a word
      const std::size_t from = text->find_last_of(",\t\n\":", at);
      const std::size_t field = std::max(begin, from == std::string::npos ? 0 : from + 1);
      const std::size_t to = std::min(text->find_first_of(",\t\n\"", field), text->size());
      text->replace(field, to - field, kWords[rng->Below(std::size(kWords))]);
      break;
    }
    case 5: {  // a line again, elsewhere
      const std::size_t from = std::max(begin, text->rfind('\n', at) + 1);
      const std::size_t to = std::min(text->find('\n', at), text->size() - 1) + 1;
      if (to > from) text->insert(to, text->substr(from, to - from));
      break;
    }
    case 6: {
      const std::string& other = others[rng->Below(others.size())];
      if (other.empty()) break;
      const std::size_t from = rng->Below(other.size());
      text->insert(at, other.substr(from, PartLength(other, from, rng)));
      break;
    }
    default:
      if (rng->Below(8) == 0) text->resize(at);
  }
}

}  // namespace

std::string Mutated(std::string text, const std::vector<std::string>& others, Rng* rng) {
  const std::size_t begin = text.find('\n') + 1;
  for (std::uint64_t edits = 1 + rng->Below(4); edits > 0; --edits) {
    Edit(&text, begin, others, rng);
  }
  if (text.size() > kLongestInput) text.resize(kLongestInput);
  return text;
}

}  // namespace allot
