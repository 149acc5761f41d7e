#include "core/owned_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr std::size_t kPiece = 1 << 20;  // bytes of a read

}  // namespace

OwnedFile::OwnedFile(const std::filesystem::path& path, int flags) : path_(path) {
  file_ = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (file_ < 0) throw RunError("cannot open '{}': {}", path.string(), SystemMessage());
}

OwnedFile::OwnedFile(int descriptor, std::filesystem::path path)
    : path_(std::move(path)), file_(descriptor) {}

OwnedFile::~OwnedFile() {
  if (file_ >= 0) ::close(file_);
}

OwnedFile::OwnedFile(OwnedFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

OwnedFile& OwnedFile::operator=(OwnedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}

std::string OwnedFile::ReadAll() {
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPiece);
    const ssize_t got = ::read(file_, bytes.data() + before, kPiece);
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw RunError("cannot read '{}': {}", path_.string(), SystemMessage());
    if (got == 0) return bytes;
  }
}

void OwnedFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw RunError("cannot write '{}': {}", path_.string(), SystemMessage());
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OwnedFile::Cut(std::uintmax_t size) {
  if (::ftruncate(file_, static_cast<off_t>(size)) != 0) {
    throw RunError("cannot cut '{}' to {} bytes: {}", path_.string(), size, SystemMessage());
  }
}

void OwnedFile::Sync() {
  if (::fdatasync(file_) != 0) {
    throw RunError("cannot write '{}': {}", path_.string(), SystemMessage());
  }
}

}  // namespace allot
