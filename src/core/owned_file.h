#pragma once
// An open file that only its owner may read, and whose bytes reach the disk when they should.

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace allot {

// RunErrors name the path and the system's message.
class OwnedFile {
 public:
  // `flags` as open(2); mode 0600.
  OwnedFile(const std::filesystem::path& path, int flags);
  ~OwnedFile();
  OwnedFile(OwnedFile&& other) noexcept;
  OwnedFile& operator=(OwnedFile&& other) noexcept;

  void Write(std::string_view bytes);  // a part of them may be there when it throws
  void Cut(std::uintmax_t size);
  void Sync();  // contents; of a new file its folder, too (SyncToDisk)

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace allot
