#include "live/state/journal.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "live/state/journal_archive.h"
#include "workload/live_journal.h"

namespace allot {

Journal::Journal(const std::filesystem::path& path) : path_(path) {
  file_.emplace(path, O_RDWR | O_CREAT | O_APPEND);
  JournalText text = ReadJournalText(ReadTextFile(path.string()));
  if (!text.damage.empty()) {
    const JournalDamage& first = text.damage.front();
    const std::string where = fmt::format("{}:{}", path.string(), first.line);
    throw DataError("{}: {} ({} damaged lines); 'allot journal repair --state {}' leaves them out",
                    where, first.why, text.damage.size(), path.parent_path().string());
  }
  past_ = std::move(text.records);
  torn_ = std::move(text.torn);
  size_ = text.whole;
  if (!torn_.empty()) file_->Cut(size_);
  if (past_.empty()) {
    SyncToDisk(path.parent_path(), path);  // that the file exists
  } else if (const auto* renewed = std::get_if<record::Renewed>(&past_.front().record)) {
    archived_ = renewed->archived;
    archive_is_known_ = true;
    CutArchive(archive(), archived_);
  }
  if (!archive_is_known_) archived_ = ArchiveSize(archive());
}

std::filesystem::path Journal::archive() const { return path_.parent_path() / kJournalArchiveName; }

void Journal::Append(const TimedRecord& record) {
  const std::string line = JournalLine(record);
  try {
    file_->Write(line);
  } catch (const Error&) {
    try {
      file_->Cut(size_);      // off what fitted on the disk
    } catch (const Error&) {  // the first one says why
    }
    throw;
  }
  size_ += line.size();
  dirty_ = true;
}

void Journal::Commit() {
  if (!dirty_) return;
  file_->Sync();
  dirty_ = false;
}

// Order: the archive has what was, then the new journal is on disk under another name, then it has
// the name. Cut off before the last step, the old journal goes on; its archive ends where its first
// record says, and what was added behind that is dropped.
void Journal::Renew(Seconds at, std::string_view lines) {
  renew_at_ = std::max(kLeast, kGrown * lines.size());
  if (size_ < renew_at_) return;
  PostponeRenewal();  // where this fails
  Commit();
  const std::uintmax_t archived = AddToArchive(archive(), archived_, archive_is_known_, path_);
  const std::string first = JournalLine({at, record::Renewed{archived}});
  std::filesystem::path part = path_;
  part += ".part";
  OwnedFile renewed(part, O_RDWR | O_CREAT | O_TRUNC | O_APPEND);
  renewed.Write(first);
  renewed.Write(lines);
  renewed.Sync();
  SyncToDisk(path_.parent_path(), path_);
  std::filesystem::rename(part, path_);
  file_ = std::move(renewed);
  size_ = first.size() + lines.size();
  archived_ = archived;
  archive_is_known_ = true;
  renew_at_ = std::max(kLeast, kGrown * size_);
  SyncToDisk(path_.parent_path(),
             path_);  // else the next records are only in a file without a name
}

}  // namespace allot
