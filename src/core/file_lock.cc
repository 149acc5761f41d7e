#include "core/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <string>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"

namespace allot {
namespace {

int OpenLock(const std::filesystem::path& path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path, const char* rule) : file_(OpenLock(path)) {
  if (file_ < 0) throw RunError("cannot open '{}': {}", path.string(), SystemMessage());
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    const std::string pid(Trim(ReadTextFile(path.string())));
    ::close(file_);
    throw RunError("{}: '{}' is in use by process {}, this is {}", rule,
                   path.parent_path().string(), pid, ::getpid());
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(file_, 0) != 0 || ::write(file_, pid.data(), pid.size()) < 0) {
    const std::string why = SystemMessage();
    ::close(file_);
    throw RunError("cannot write '{}': {}", path.string(), why);
  }
}

FileLock::~FileLock() { ::close(file_); }

std::optional<std::string> LockHolder(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return std::nullopt;
  const bool held = ::flock(file, LOCK_SH | LOCK_NB) != 0;
  ::close(file);
  if (!held) return std::nullopt;
  return std::string(Trim(ReadTextFile(path.string())));
}

}  // namespace allot
