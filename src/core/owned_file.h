#pragma once
// An open file that only its owner may read, with explicit control of when bytes reach the disk.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace allot {

// RunErrors name the path and the system's message.
class OwnedFile {
 public:
  // `flags` are those of open(2); the mode is 0600.
  OwnedFile(const std::filesystem::path& path, int flags);
  // Takes over a descriptor, which is closed at the end; `path` is its name in messages.
  OwnedFile(int descriptor, std::filesystem::path path);
  ~OwnedFile();
  OwnedFile(OwnedFile&& other) noexcept;
  OwnedFile& operator=(OwnedFile&& other) noexcept;

  std::string ReadAll();               // from the present position to the end
  void Write(std::string_view bytes);  // may have written a part when it throws
  void Cut(std::uintmax_t size);
  void Sync();  // the contents, and the folder of a new file (SyncToDisk)

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace allot
