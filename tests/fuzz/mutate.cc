#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/file.h"
#include "tests/fuzz/read_one.h"
#include "workload/trace_reader.h"

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

std::vector<std::string> SampleInputs(const std::string& folder) {
  std::vector<std::string> paths, inputs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const std::string text = ReadTextFile(path);
    const TraceFormat* best = nullptr;
    for (const TraceFormat& format : Registry<TraceFormat>::Global().entries()) {
      if (best == nullptr || format.detect(text) > best->detect(text)) best = &format;
    }
    for (const TraceFormat& format : Registry<TraceFormat>::Global().entries()) {
      if (format.any_table && path.ends_with(".csv")) inputs.push_back(format.id + "\n" + text);
    }
    if (best->detect(text) < 50) continue;  // a second file, which goes with its first one
    std::string input = best->id + "\n" + text;
    const std::string companion = best->companion ? best->companion(path) : "";
    if (std::filesystem::exists(companion)) input += kCompanionMark + ReadTextFile(companion);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace allot
