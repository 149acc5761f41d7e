#include "live/journal_archive.h"

#include <fcntl.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>

#include "core/error.h"
#include "core/file.h"
#include "live/owned_file.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

// As one gzip member. At the fastest level: the daemon waits for it.
std::string Compressed(std::string_view text) {
  constexpr int kGzip = 16 + MAX_WBITS;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw RunError("zlib: no memory for {} bytes", text.size());
  }
  std::string member(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(member.data());
  stream.avail_out = static_cast<uInt>(member.size());
  const int done = deflate(&stream, Z_FINISH);
  member.resize(stream.total_out);
  deflateEnd(&stream);
  if (done != Z_STREAM_END) throw RunError("zlib cannot compress {} bytes", text.size());
  return member;
}

std::string BytesOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::uintmax_t ArchiveSize(const fs::path& archive) {
  std::error_code none;
  const std::uintmax_t size = fs::file_size(archive, none);
  return none ? 0 : size;
}

std::uintmax_t AddToArchive(const fs::path& archive, std::uintmax_t valid, bool in_place,
                            std::string_view text) {
  const std::string member = Compressed(text);
  if (in_place && valid > 0 && ArchiveSize(archive) >= valid) {
    OwnedFile file(archive, O_WRONLY | O_APPEND);
    file.Cut(valid);
    try {
      file.Write(member);
      file.Sync();
    } catch (const Error&) {
      file.Cut(valid);  // readers meet whole members only
      throw;
    }
    return valid + member.size();
  }
  fs::path part = archive;
  part += ".part";
  std::string before = BytesOf(archive);
  before.resize(std::min<std::size_t>(before.size(), valid));  // not what an attempt has added
  {
    OwnedFile file(part, O_WRONLY | O_CREAT | O_TRUNC);
    file.Write(before);
    file.Write(member);
    file.Sync();
  }
  fs::rename(part, archive);
  SyncToDisk(archive.parent_path(), archive);
  return before.size() + member.size();
}

void CutArchive(const fs::path& archive, std::uintmax_t valid) {
  if (ArchiveSize(archive) > valid) OwnedFile(archive, O_WRONLY).Cut(valid);
}

}  // namespace allot
