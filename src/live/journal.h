#pragma once
// What a daemon did and what the runtime showed: one JSON object a line, append-only. The next
// daemon goes on from it, and it explains to people what happened (docs/live.md lists the records).
// Kept in a state folder that one daemon at a time may use (live/file_lock.h).

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/types.h"
#include "live/journal_text.h"

namespace allot {

class Journal {
 public:
  // Reads what is there. A last line that was cut off (power, disk full) is dropped from the file,
  // and `torn` tells it; anything else that is no record (journal_text.h) is a DataError with file
  // and line, and nothing is changed.
  explicit Journal(const std::filesystem::path& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  std::vector<JournalRecord> TakePast() { return std::move(past_); }
  const std::string& torn() const { return torn_; }

  // {"at": seconds, "what": ..., ...fields}; on disk after the next Commit. RunError when the file
  // cannot be written: then it ends with the record before.
  void Append(Seconds at, const char* what, const JournalRecord& fields);
  void Commit();  // costs nothing when nothing was appended

 private:
  std::filesystem::path path_;
  int file_ = -1;
  std::vector<JournalRecord> past_;
  std::string torn_;
  std::size_t size_ = 0;  // of whole records
  bool dirty_ = false;
};

}  // namespace allot
