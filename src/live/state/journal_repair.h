#pragma once
// What can be kept of a damaged journal. A daemon does not start on one: what is lost may be a
// job's workers, so somebody should know.

#include <filesystem>
#include <string>
#include <vector>

#include "live/state/journal_text.h"

namespace allot {

struct JournalState {
  std::size_t records = 0;            // that a daemon can continue from
  std::string kept;                   // their lines
  std::vector<JournalDamage> damage;  // lines that are no records, or that cannot be true
  std::string torn;                   // behind the last end of a line: a daemon drops it itself
};

// Reads the journal as a daemon would, and goes on behind what a daemon would stop at. DataError
// when there is none.
JournalState CheckJournal(const std::filesystem::path& journal);

// Writes the records of `state` as the journal. The damaged one is kept beside it; its new name is
// returned. The caller holds the folder's lock.
std::filesystem::path ReplaceJournal(const std::filesystem::path& journal,
                                     const JournalState& state);

}  // namespace allot
