#pragma once
// Files that are either whole or absent.
//
// ReadTextFile reads plain or gzip (by content, through zlib). AtomicFile and AtomicDirectory
// write under a new sibling name that nobody can guess (PartName), fsync, and rename on Commit();
// destroyed before that, they remove what they wrote. All failures are Errors that name path and
// system message.

#include <cstdint>
#include <ext/stdio_filebuf.h>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>

namespace allot {

// DataError when absent, unreadable, or when the compressed stream is cut short or corrupt.
std::string ReadTextFile(const std::string& path);

// StableHash (core/rng.h) of what ReadTextFile gives, after a text of hash `before`; in pieces, so
// that a large file takes no memory. Errors as ReadTextFile.
std::uint64_t HashTextFile(const std::string& path, std::uint64_t before);

// The same for bytes that are in memory already; `name` stands for the path in messages.
std::string DecompressText(std::string_view bytes, const std::string& name);

// fsync of a file or folder; RunError naming `reported`, the final name of what is written.
void SyncToDisk(const std::filesystem::path& path, const std::filesystem::path& reported);

// The name of a temporary file beside `name` that nobody can guess: "NAME.<16 digits>.part".
std::string PartName(const std::string& name);

class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path final_path);  // makes folders; devices stay devices
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  std::ostream& stream() { return out_; }
  void Commit();  // flush, fsync, rename; RunError when the disk is full

 private:
  std::filesystem::path final_path_;
  std::filesystem::path part_path_;
  __gnu_cxx::stdio_filebuf<char> buffer_;
  std::ostream out_{&buffer_};
  bool committed_ = false;
};

// Whole text at once through an AtomicFile.
void WriteTextFile(const std::filesystem::path& path, std::string_view text);

class AtomicDirectory {
 public:
  explicit AtomicDirectory(const std::filesystem::path& final_path);
  ~AtomicDirectory();
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;
  const std::filesystem::path& path() const { return part_path_; }  // write here
  void Commit();  // replaces an existing folder of the final name

 private:
  std::filesystem::path final_path_;
  std::filesystem::path part_path_;
  bool committed_ = false;
};

}  // namespace allot
