#include "live/state/journal_archive.h"

#include <fcntl.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/owned_file.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = 1 << 16;

std::ifstream Opened(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw RunError("cannot open '{}': {}", path.string(), SystemMessage());
  return in;
}

// The next bytes, at most `most`; "" at the end.
std::string_view ReadChunk(std::ifstream* in, const fs::path& path, std::uintmax_t most,
                           std::vector<char>* buffer) {
  buffer->resize(kChunk);
  in->read(buffer->data(), static_cast<std::streamsize>(std::min<std::uintmax_t>(most, kChunk)));
  if (in->bad()) throw RunError("cannot read '{}': {}", path.string(), SystemMessage());
  return {buffer->data(), static_cast<std::size_t>(in->gcount())};
}

void Copy(const fs::path& from, std::uintmax_t size, OwnedFile* to) {
  std::ifstream in = Opened(from);
  std::vector<char> buffer;
  while (size > 0) {
    const std::string_view bytes = ReadChunk(&in, from, size, &buffer);
    if (bytes.empty()) break;
    to->Write(bytes);
    size -= bytes.size();
  }
}

class Deflater {
 public:
  // At the fastest level: the daemon waits for it.
  Deflater() {
    constexpr int kGzip = 16 + MAX_WBITS;
    if (deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw RunError("zlib: no memory");
    }
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // Returns how many bytes it has written.
  std::size_t Write(std::string_view bytes, bool last, OwnedFile* to) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    std::size_t written = 0;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      const std::size_t made = out_.size() - stream_.avail_out;
      to->Write({out_.data(), made});
      written += made;
    } while (stream_.avail_out == 0);
    return written;
  }

 private:
  z_stream stream_{};
  std::vector<char> out_ = std::vector<char>(kChunk);
};

// As one gzip member; its size.
std::uintmax_t WriteCompressed(const fs::path& from, OwnedFile* to) {
  std::ifstream in = Opened(from);
  std::vector<char> buffer;
  Deflater deflater;
  std::uintmax_t written = 0;
  for (bool last = false; !last;) {
    const std::string_view bytes = ReadChunk(&in, from, kChunk, &buffer);
    last = bytes.empty();
    written += deflater.Write(bytes, last, to);
  }
  return written;
}

}  // namespace

std::uintmax_t ArchiveSize(const fs::path& archive) {
  std::error_code none;
  const std::uintmax_t size = fs::file_size(archive, none);
  return none ? 0 : size;
}

std::uintmax_t AddToArchive(const fs::path& archive, std::uintmax_t valid, bool in_place,
                            const fs::path& from) {
  if (in_place && valid > 0 && ArchiveSize(archive) >= valid) {
    OwnedFile file(archive, O_WRONLY | O_APPEND);
    file.Cut(valid);
    try {
      const std::uintmax_t added = WriteCompressed(from, &file);
      file.Sync();
      return valid + added;
    } catch (const Error&) {
      file.Cut(valid);  // readers meet whole members only
      throw;
    }
  }
  fs::path part = archive;
  part += ".part";
  const std::uintmax_t before = std::min(ArchiveSize(archive), valid);  // not what an attempt added
  std::uintmax_t added = 0;
  {
    OwnedFile file(part, O_WRONLY | O_CREAT | O_TRUNC);
    if (before > 0) Copy(archive, before, &file);
    added = WriteCompressed(from, &file);
    file.Sync();
  }
  fs::rename(part, archive);
  SyncToDisk(archive.parent_path(), archive);
  return before + added;
}

void CutArchive(const fs::path& archive, std::uintmax_t valid) {
  if (ArchiveSize(archive) > valid) OwnedFile(archive, O_WRONLY).Cut(valid);
}

}  // namespace allot
