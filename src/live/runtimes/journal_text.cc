#include "live/runtimes/journal_text.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/json_text.h"

namespace allot {
namespace {

constexpr std::string_view kBeforeSum = R"(,"crc":")";
constexpr std::string_view kAfterSum = R"("})";
constexpr std::size_t kSumDigits = 8;
constexpr std::size_t kSumSize = kBeforeSum.size() + kSumDigits + kAfterSum.size();

std::string SumOf(std::string_view line) {
  const auto* bytes = reinterpret_cast<const Bytef*>(line.data());
  return fmt::format("{:08x}", ::crc32(0, bytes, static_cast<uInt>(line.size())));
}

std::string Excerpt(std::string_view line) {
  constexpr std::size_t kExcerpt = 80;
  std::string excerpt;
  for (const char c : line.substr(0, kExcerpt)) {
    const bool plain = c >= ' ' && c < 127;
    excerpt += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return excerpt;
}

// The line without its checksum; nullopt when it has one that is not its own.
std::optional<std::string> Checked(std::string_view line) {
  if (line.size() <= kSumSize) return std::string(line);
  const std::string_view end = line.substr(line.size() - kSumSize);
  if (!end.starts_with(kBeforeSum) || !end.ends_with(kAfterSum)) return std::string(line);
  std::string rest = std::string(line.substr(0, line.size() - kSumSize)) + "}";
  if (end.substr(kBeforeSum.size(), kSumDigits) != SumOf(rest)) return std::nullopt;
  return rest;
}

// "", or why the line is no record.
std::string ReadLine(std::string_view line, JournalRecord* record) {
  const std::optional<std::string> checked = Checked(line);
  if (!checked) return fmt::format("its checksum must be its own, got '{}'", Excerpt(line));
  *record = JournalRecord::parse(*checked, nullptr, false);
  const auto is = [&](const char* key, auto right) {
    const auto found = record->find(key);
    return found != record->end() && ((*found).*right)();
  };
  if (record->is_object() && is("at", &JournalRecord::is_number) &&
      is("what", &JournalRecord::is_string)) {
    return "";
  }
  return fmt::format("a record has 'at' and 'what', got '{}'", Excerpt(line));
}

}  // namespace

std::string JournalLine(const JournalRecord& record) {
  std::string line = JsonText(record, -1);
  const std::string sum = SumOf(line);
  line.pop_back();
  return fmt::format("{}{}{}{}\n", line, kBeforeSum, sum, kAfterSum);
}

JournalText ReadJournalText(std::string_view text) {
  JournalText read;
  std::string_view before;
  for (int number = 1; read.whole < text.size(); ++number) {
    const std::size_t end = text.find('\n', read.whole);
    if (end == std::string_view::npos) {
      read.torn = text.substr(read.whole);
      break;
    }
    const std::string_view line = text.substr(read.whole, end - read.whole);
    read.whole = end + 1;
    if (line.empty() || line == std::exchange(before, line)) continue;
    JournalRecord record;
    std::string why = ReadLine(line, &record);
    if (!why.empty()) {
      read.damage.push_back({number, std::move(why)});
      continue;
    }
    read.records.push_back(std::move(record));
    read.lines.push_back(number);
  }
  return read;
}

}  // namespace allot
