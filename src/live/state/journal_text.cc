#include "live/state/journal_text.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/json_text.h"
#include "live/state/records_json.h"

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

// DataError where the line is no record.
TimedRecord ReadLine(std::string_view line) {
  const std::optional<std::string> checked = Checked(line);
  if (!checked) throw DataError("its checksum must be its own, got '{}'", Excerpt(line));
  const auto json = nlohmann::ordered_json::parse(*checked, nullptr, false);
  if (json.is_discarded()) throw DataError("a record must be JSON, got '{}'", Excerpt(line));
  return RecordFrom(json);
}

}  // namespace

std::string JournalLine(const TimedRecord& record) {
  std::string line = JsonText(ToJson(record), -1);
  const std::string sum = SumOf(line);
  line.pop_back();
  return fmt::format("{}{}{}{}\n", line, kBeforeSum, sum, kAfterSum);
}

JournalText ReadJournalText(std::string_view text) {
  JournalText read;
  std::string_view before;
  std::size_t repeated = 0;  // lines from the beginning that the last lines repeat
  for (int number = 1; read.whole < text.size(); ++number) {
    const std::size_t end = text.find('\n', read.whole);
    if (end == std::string_view::npos) {
      read.torn = text.substr(read.whole);
      break;
    }
    const std::string_view line = text.substr(read.whole, end - read.whole);
    read.whole = end + 1;
    if (line.empty() || line == std::exchange(before, line)) continue;
    const std::string_view with_end = text.substr(read.whole - line.size() - 1, line.size() + 1);
    repeated =
        repeated < read.lines.size() && with_end == read.lines[repeated].text ? repeated + 1 : 0;
    if (repeated == 1) {
      read.damage.push_back({number, "the journal begins anew here, as where a copy was appended"});
    }
    if (repeated > 0) continue;
    try {
      read.records.push_back(ReadLine(line));
      read.lines.push_back({number, with_end});
    } catch (const Error& error) {
      read.damage.push_back({number, error.what()});
    }
  }
  return read;
}

}  // namespace allot
