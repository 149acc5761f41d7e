#pragma once
// A journal as text: one record a line, each with a checksum, and what is wrong with a damaged one.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

using JournalRecord = nlohmann::ordered_json;

// The record's JSON with a member "crc" at its end: CRC-32 of the line without it. Ends with '\n'.
std::string JournalLine(const JournalRecord& record);

struct JournalDamage {
  int line = 0;
  std::string why;  // the rule and what is there instead
};

struct JournalText {
  std::vector<JournalRecord> records;  // without "crc"
  std::vector<int> lines;              // of these
  std::vector<JournalDamage> damage;   // lines that are no records
  std::string torn;                    // behind the last end of a line
  std::size_t whole = 0;               // bytes before that
};

// Lines of older journals have no checksum. Empty lines, and a line that says again what the one
// before said, are no damage and say nothing. O(bytes).
JournalText ReadJournalText(std::string_view text);

}  // namespace allot
