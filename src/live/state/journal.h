#pragma once
// The file of a daemon's records (live/state/records.h): one a line, append-only. The next daemon
// continues from it, and people read in it what happened. It lies in a state folder that one daemon
// at a time may use (core/file_lock.h). Once it is much longer than the state needs, it is written
// anew; its earlier records go into the archive beside it (live/state/journal_archive.h).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/owned_file.h"
#include "core/types.h"
#include "live/state/journal_text.h"

namespace allot {

class Journal {
 public:
  // Reads what is there. A last line that was cut off (power, disk full) is dropped from the file,
  // and `torn` tells it; anything else that is no record (journal_text.h) is a DataError with file
  // and line, and nothing is changed.
  explicit Journal(const std::filesystem::path& path);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  std::vector<TimedRecord> TakePast() { return std::move(past_); }
  const std::string& torn() const { return torn_; }

  // On disk after the next Commit. RunError when the file cannot be written: then it ends with the
  // record before.
  void Append(const TimedRecord& record);
  void Commit();  // costs nothing when nothing was appended

  // Whether it is time to ask Renew; later, where it could not be asked.
  bool long_enough() const { return size_ >= renew_at_; }
  void PostponeRenewal() { renew_at_ = size_ + kLeast; }
  // Makes the journal anew of `lines` (JournalLine), by which a daemon comes to the present state,
  // unless it is shorter than kGrown times them. At every moment the old or the new one is there
  // whole. RunError when the disk has no room: then the old one stays, and goes on.
  void Renew(Seconds at, std::string_view lines);

  std::size_t size() const { return size_; }  // bytes of whole records
  static constexpr std::size_t kLeast = 1 << 20;
  static constexpr std::size_t kGrown = 4;

 private:
  std::filesystem::path archive() const;

  std::filesystem::path path_;
  std::optional<OwnedFile> file_;
  std::vector<TimedRecord> past_;
  std::string torn_;
  std::size_t size_ = 0;  // of whole records
  std::size_t renew_at_ = kLeast;
  std::uintmax_t archived_ = 0;    // bytes of the archive that hold
  bool archive_is_known_ = false;  // the journal says so itself: what is added behind can be cut
  bool dirty_ = false;
};

}  // namespace allot
