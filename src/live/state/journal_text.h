#pragma once
// A journal as text: one record a line (live/state/records_json.h), each with a checksum, and the
// damage of lines that are no records.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "live/state/records.h"

namespace allot {

// The record's JSON with a member "crc" at its end: CRC-32 of the line without it. Ends with '\n'.
std::string JournalLine(const TimedRecord& record);

struct JournalDamage {
  int line = 0;
  std::string why;  // the rule and what is there instead
};

struct JournalText {
  struct Line {
    int number = 0;
    std::string_view text;  // of the text that was read, with '\n'
  };
  std::vector<TimedRecord> records;
  std::vector<Line> lines;            // of these
  std::vector<JournalDamage> damage;  // lines that are no records
  std::string torn;                   // behind the last end of a line
  std::size_t whole = 0;              // bytes before that
};

// Lines of older journals have no checksum. Empty lines, and a line that repeats the one before,
// are no damage and no record. Lines that repeat the beginning of the journal are one damage and no
// records: a copy was appended. O(bytes).
JournalText ReadJournalText(std::string_view text);

}  // namespace allot
