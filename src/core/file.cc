#include "core/file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <memory>

#include "core/error.h"
#include "core/rng.h"

namespace allot {
namespace fs = std::filesystem;

namespace {

std::string ReadBytes(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw DataError("cannot open '{}': {}", path, SystemMessage(errno));
  std::string bytes;
  std::error_code no_size;  // of a pipe, say
  const std::uintmax_t size = fs::file_size(path, no_size);
  if (!no_size) bytes.reserve(size);
  std::string chunk(1 << 20, '\0');
  while (in) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    bytes.append(chunk, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw DataError("cannot read '{}': {}", path, SystemMessage(errno));
  return bytes;
}

bool StartsLikeGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

// Inflates the members of a gzip file one after the other; zlib checks each one's CRC and length.
class GzipInflater {
 public:
  GzipInflater(const std::string& path, std::string_view bytes) : path_(path), left_(bytes) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&zlib_, kGzipOnly) != Z_OK) throw RunError("zlib: no memory for '{}'", path);
  }
  ~GzipInflater() { inflateEnd(&zlib_); }
  GzipInflater(const GzipInflater&) = delete;
  GzipInflater& operator=(const GzipInflater&) = delete;

  std::string All() {
    const std::size_t total = left_.size();
    std::string text;
    while (!left_.empty()) {
      if (!StartsLikeGzip(left_)) {
        throw DataError("'{}': {} bytes of garbage follow the compressed data of {} bytes", path_,
                        left_.size(), total - left_.size());
      }
      Member(total, text);
    }
    return text;
  }

 private:
  void Member(std::size_t total, std::string& text) {
    std::string chunk(1 << 20, '\0');
    inflateReset(&zlib_);
    int result = Z_OK;
    while (result != Z_STREAM_END) {
      const std::size_t offered = std::min<std::size_t>(left_.size(), 1 << 30);
      // zlib's interface predates const; it does not write to its input.
      zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left_.data()));
      zlib_.avail_in = static_cast<uInt>(offered);
      zlib_.next_out = reinterpret_cast<Bytef*>(chunk.data());
      zlib_.avail_out = static_cast<uInt>(chunk.size());
      result = inflate(&zlib_, Z_NO_FLUSH);
      left_.remove_prefix(offered - zlib_.avail_in);
      text.append(chunk, 0, chunk.size() - zlib_.avail_out);
      if (result == Z_BUF_ERROR || (result == Z_OK && left_.empty() && zlib_.avail_out > 0)) {
        throw DataError("'{}': gzip data is cut short after {} compressed bytes ({} plain)", path_,
                        total, text.size());
      }
      if (result != Z_OK && result != Z_STREAM_END) {
        throw DataError("'{}': gzip data is corrupt near byte {} of {}: {}", path_,
                        total - left_.size(), total, zlib_.msg ? zlib_.msg : zError(result));
      }
    }
  }

  const std::string& path_;
  std::string_view left_;
  z_stream zlib_{};
};

// Beside the final path, on the same file system.
fs::path PartOf(const fs::path& final_path) {
  return final_path.parent_path() / PartName(final_path.filename().string());
}

// "runs/a/" names the same folder as "runs/a", but has no file name to put a suffix on.
fs::path WithoutTrailingSlash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

void MakeFolders(const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw RunError("cannot create folder '{}': {}", folder.string(), error.message());
}

[[noreturn]] void ThrowCannotWrite(const fs::path& path, int error) {
  std::error_code ignored;
  const fs::space_info space = fs::space(fs::absolute(path).parent_path(), ignored);
  const bool full = !ignored && (error == 0 || error == ENOSPC || error == EDQUOT);
  const std::string free = full ? fmt::format(" ({} bytes free)", space.available) : "";
  throw RunError("cannot write '{}': {}{}", path.string(),
                 error == 0 ? "write failed" : SystemMessage(error), free);
}

// A stream only remembers that an earlier write failed; one more write fails for the same reason.
int ReasonOfFailure(std::ostream& out) {
  out.clear();
  errno = 0;
  out << std::string(1 << 16, '\0') << std::flush;
  return errno;
}

void SyncParent(const fs::path& path) { SyncToDisk(fs::absolute(path).parent_path(), path); }

void Rename(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) ThrowCannotWrite(to, errno);
}

// Puts `part` in the place of the folder `final_path`, whose old content ends up at `part`.
void Exchange(const fs::path& part, const fs::path& final_path) {
  if (::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, final_path.c_str(), RENAME_EXCHANGE) == 0)
    return;
  if (errno != EINVAL && errno != ENOSYS) ThrowCannotWrite(final_path, errno);
  // A file system without exchange: two steps, with nothing under the final name in between.
  const fs::path aside = PartOf(final_path);
  Rename(final_path, aside);
  Rename(part, final_path);
  Rename(aside, part);
}

}  // namespace

std::string PartName(const std::string& name) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    throw RunError("the system gives no random bytes: {}", SystemMessage());
  }
  return fmt::format("{}.{:016x}.part", name, number);
}

void SyncToDisk(const fs::path& path, const fs::path& reported) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) ThrowCannotWrite(reported, errno);
  const int failed = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  // Some file systems refuse to sync a folder (EINVAL); what can be done then has been done.
  if (failed != 0 && failed != EINVAL) ThrowCannotWrite(reported, failed);
}

std::string ReadTextFile(const std::string& path) { return DecompressText(ReadBytes(path), path); }

std::uint64_t HashTextFile(const std::string& path, std::uint64_t before) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (file == nullptr) throw DataError("cannot open '{}': {}", path, SystemMessage());
  std::string piece(1 << 20, '\0');
  int read = 0;
  while ((read = gzread(file.get(), piece.data(), static_cast<unsigned>(piece.size()))) > 0) {
    before = StableHash({piece.data(), static_cast<std::size_t>(read)}, before);
  }
  int error = Z_OK;
  const char* const what = gzerror(file.get(), &error);
  if (error != Z_OK) throw DataError("cannot read '{}': {}", path, what);
  return before;
}

std::string DecompressText(std::string_view bytes, const std::string& name) {
  return StartsLikeGzip(bytes) ? GzipInflater(name, bytes).All() : std::string(bytes);
}

// Devices and pipes, such as /dev/null, are written to and never replaced; a link stays, what it
// leads to is written.
AtomicFile::AtomicFile(fs::path final_path) : final_path_(std::move(final_path)) {
  std::error_code error;
  const bool device = fs::is_other(final_path_, error);
  for (int links = 0; !device && links < 40 && fs::is_symlink(final_path_, error); ++links) {
    final_path_ = final_path_.parent_path() / fs::read_symlink(final_path_, error);
  }
  part_path_ = device ? final_path_ : PartOf(final_path_);
  MakeFolders(final_path_.parent_path());
  const int flags = device ? O_TRUNC : O_CREAT | O_EXCL | O_NOFOLLOW;
  const int descriptor = ::open(part_path_.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) ThrowCannotWrite(final_path_, errno);
  buffer_ = __gnu_cxx::stdio_filebuf<char>(descriptor, std::ios::out | std::ios::binary);
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  buffer_.close();
  std::error_code ignored;
  if (part_path_ != final_path_) fs::remove(part_path_, ignored);
}

void AtomicFile::Commit() {
  if (!out_) ThrowCannotWrite(final_path_, ReasonOfFailure(out_));
  errno = 0;
  out_.flush();
  if (!out_ || buffer_.close() == nullptr) ThrowCannotWrite(final_path_, errno);
  if (part_path_ == final_path_) {
    committed_ = true;
    return;
  }
  SyncToDisk(part_path_, final_path_);
  Rename(part_path_, final_path_);
  committed_ = true;
  SyncParent(final_path_);
}

void WriteTextFile(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.stream().write(text.data(), static_cast<std::streamsize>(text.size()));
  file.Commit();
}

AtomicDirectory::AtomicDirectory(const fs::path& final_path)
    : final_path_(WithoutTrailingSlash(final_path)), part_path_(PartOf(final_path_)) {
  MakeFolders(final_path_.parent_path());
  if (::mkdir(part_path_.c_str(), 0777) != 0) ThrowCannotWrite(final_path_, errno);
}

AtomicDirectory::~AtomicDirectory() {
  if (committed_) return;
  std::error_code ignored;
  fs::remove_all(part_path_, ignored);
}

void AtomicDirectory::Commit() {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(part_path_)) {
    if (entry.is_regular_file() || entry.is_directory()) SyncToDisk(entry.path(), final_path_);
  }
  SyncToDisk(part_path_, final_path_);
  std::error_code error;
  if (fs::is_directory(final_path_, error)) {
    Exchange(part_path_, final_path_);
    fs::remove_all(part_path_, error);
  } else {
    Rename(part_path_, final_path_);
  }
  committed_ = true;
  SyncParent(final_path_);
}

}  // namespace allot
