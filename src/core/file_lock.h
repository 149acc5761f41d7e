#pragma once
// A file that one process at a time holds; it has the holder's pid as text. Released at the end of
// the process, however it ends. On NFS it holds between machines where the server has locks.

#include <filesystem>
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

// Pid of the process that holds it; "": nobody does. Changes nothing.
std::string LockHolder(const std::filesystem::path& path);

}  // namespace allot
