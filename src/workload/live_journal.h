#pragma once
// The files of a daemon's journal, for those who write and those who read it.

#include <string>
#include <string_view>

namespace allot {

inline constexpr std::string_view kJournalName = "journal.jsonl";
inline constexpr std::string_view kJournalArchiveName = "journal.past.jsonl.gz";

// Beside a journal of that name: what it held before it was made anew. "": of another name.
inline std::string JournalArchiveOf(std::string_view journal) {
  const bool whole = journal == kJournalName;
  if (!whole && !journal.ends_with("/" + std::string(kJournalName))) return "";
  const std::string_view folder = journal.substr(0, journal.size() - kJournalName.size());
  return std::string(folder) + std::string(kJournalArchiveName);
}

}  // namespace allot
