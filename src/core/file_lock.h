#pragma once
// A lock file that one process at a time holds; it contains the holder's pid. The system releases
// it when the process ends. On NFS it works between machines if the server supports locks.

#include <filesystem>
#include <optional>
#include <string>

namespace allot {

class FileLock {
 public:
  // RunError naming `rule` ("one daemon a cluster") and both pids when another process holds it.
  FileLock(const std::filesystem::path& path, const char* rule);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_ = -1;
};

// The pid of the process that holds the lock; nullopt if none does. Changes nothing.
std::optional<std::string> LockHolder(const std::filesystem::path& path);

}  // namespace allot
