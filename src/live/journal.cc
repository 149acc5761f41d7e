#include "live/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"

namespace allot {
namespace {

void WriteAll(int file, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw RunError("cannot write '{}': {}", path.string(), SystemMessage());
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Journal::Journal(const std::filesystem::path& path) : path_(path) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file_ < 0) throw RunError("cannot open '{}': {}", path.string(), SystemMessage());
  JournalText text = ReadJournalText(ReadTextFile(path.string()));
  if (!text.damage.empty()) {
    const JournalDamage& first = text.damage.front();
    const std::string where = fmt::format("{}:{}", path.string(), first.line);
    ::close(file_);
    throw DataError("{}: {} ({} damaged lines); 'allot journal repair --state {}' leaves them out",
                    where, first.why, text.damage.size(), path.parent_path().string());
  }
  past_ = std::move(text.records);
  torn_ = std::move(text.torn);
  size_ = text.whole;
  if (!torn_.empty() && ::ftruncate(file_, static_cast<off_t>(size_)) != 0) {
    throw RunError("cannot cut '{}' to {} bytes: {}", path.string(), size_, SystemMessage());
  }
  if (past_.empty()) SyncToDisk(path.parent_path(), path);  // that the file exists
}

Journal::~Journal() { ::close(file_); }

void Journal::Append(Seconds at, const char* what, const JournalRecord& fields) {
  JournalRecord record = {{"at", at}, {"what", what}};
  record.update(fields);
  const std::string line = JournalLine(record);
  try {
    WriteAll(file_, line, path_);
  } catch (const Error&) {
    (void)!::ftruncate(file_, static_cast<off_t>(size_));  // what fitted on the disk
    throw;
  }
  size_ += line.size();
  dirty_ = true;
}

void Journal::Commit() {
  if (!std::exchange(dirty_, false)) return;
  if (::fdatasync(file_) != 0) {
    throw RunError("cannot write '{}': {}", path_.string(), SystemMessage());
  }
}

}  // namespace allot
