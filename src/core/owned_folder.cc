#include "core/owned_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/error.h"
#include "core/file.h"

namespace allot {
namespace fs = std::filesystem;

namespace {

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

struct stat StatusOf(int file, const fs::path& path) {
  struct stat found {};
  if (::fstat(file, &found) != 0) {
    throw RunError("cannot examine '{}': {}", path.string(), SystemMessage());
  }
  return found;
}

}  // namespace

std::optional<OwnedFolder> OwnedFolder::Open(const fs::path& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) return OwnedFolder(folder, path);
  if (errno == ENOENT) return std::nullopt;
  throw RunError("cannot open folder '{}': {}", path.string(), SystemMessage());
}

OwnedFolder OwnedFolder::OpenOrMake(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw RunError("cannot create folder '{}': {}", path.string(), error.message());
  if (auto folder = Open(path)) return std::move(*folder);
  throw RunError("folder '{}' was removed just after its creation", path.string());
}

std::optional<OwnedFolder> OwnedFolder::OpenOwn(const std::string& name) const {
  const int folder = OpenIn(name, O_RDONLY | O_DIRECTORY);
  if (folder < 0) return std::nullopt;
  OwnedFolder own(folder, path_ / name);
  own.RequireOwn();
  return own;
}

OwnedFolder OwnedFolder::MakeOwn(const std::string& name) const {
  const bool made = ::mkdirat(folder_, name.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) {
    throw RunError("cannot create folder '{}': {}", (path_ / name).string(), SystemMessage());
  }
  auto own = OpenOwn(name);
  if (!own) throw RunError("folder '{}' was removed just now", (path_ / name).string());
  if (made) own->CloseToOthers();  // access lists of the folder above may have opened it
  return std::move(*own);
}

OwnedFolder::~OwnedFolder() {
  if (folder_ >= 0) ::close(folder_);
}

OwnedFolder::OwnedFolder(OwnedFolder&& other) noexcept
    : path_(std::move(other.path_)), folder_(std::exchange(other.folder_, -1)) {}

OwnedFolder& OwnedFolder::operator=(OwnedFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(folder_, other.folder_);
  return *this;
}

bool OwnedFolder::AllMayRename() const {
  return (StatusOf(folder_, path_).st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH;
}

void OwnedFolder::RequireOwn() const { Require(folder_, path_, S_IFDIR, kOthersWrite); }

void OwnedFolder::CloseToOthers() const {
  Require(folder_, path_, S_IFDIR, 0);
  if (::fchmod(folder_, S_IRWXU) != 0) {
    throw RunError("cannot close '{}' to others: {}", path_.string(), SystemMessage());
  }
}

bool OwnedFolder::Has(const std::string& name) const {
  struct stat found {};
  return ::fstatat(folder_, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(found.st_mode);
}

std::optional<std::string> OwnedFolder::Read(const std::string& name) const {
  const fs::path path = path_ / name;
  const int descriptor = OpenIn(name, O_RDONLY | O_NONBLOCK);  // a FIFO must not block
  if (descriptor < 0) return std::nullopt;
  OwnedFile file(descriptor, path);
  Require(descriptor, path, S_IFREG, S_IWOTH);
  return file.ReadAll();
}

void OwnedFolder::Write(const std::string& name, std::span<const std::string_view> pieces) const {
  const fs::path path = path_ / name;
  const std::string part = PartName(name);
  const int descriptor = OpenIn(part, O_WRONLY | O_CREAT | O_EXCL);
  OwnedFile file(descriptor, path);
  try {
    for (const std::string_view piece : pieces) file.Write(piece);
    file.Sync();
    if (::renameat(folder_, part.c_str(), folder_, name.c_str()) != 0) {
      throw RunError("cannot write '{}': {}", path.string(), SystemMessage());
    }
  } catch (const Error&) {
    ::unlinkat(folder_, part.c_str(), 0);
    throw;
  }
  // Some file systems refuse to sync a folder (EINVAL); what can be done then has been done.
  if (::fsync(folder_) != 0 && errno != EINVAL) {
    throw RunError("cannot write '{}': {}", path.string(), SystemMessage());
  }
}

void OwnedFolder::Write(const std::string& name, std::string_view text) const {
  Write(name, std::span(&text, 1));
}

OwnedFile OwnedFolder::Lock(const std::string& name) const {
  const int descriptor = OpenIn(name, O_RDWR | O_CREAT);
  OwnedFile file(descriptor, path_ / name);
  while (::flock(descriptor, LOCK_EX) != 0) {
    if (errno != EINTR) {
      throw RunError("cannot lock '{}': {}", (path_ / name).string(), SystemMessage());
    }
  }
  return file;
}

void OwnedFolder::Remove(const std::string& name) const {
  if (::unlinkat(folder_, name.c_str(), 0) != 0 && errno != ENOENT) {
    throw RunError("cannot remove '{}': {}", (path_ / name).string(), SystemMessage());
  }
}

int OwnedFolder::OpenIn(const std::string& name, int flags) const {
  const int file = ::openat(folder_, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0 && (errno != ENOENT || (flags & O_CREAT) != 0)) {
    throw RunError("cannot open '{}': {}", (path_ / name).string(), SystemMessage());
  }
  return file;
}

bool OwnedFolder::IsThisUser(uid_t owner) const {
  if (owner == ::geteuid()) return true;
  const std::string part = PartName("owner");
  const int file =
      ::openat(folder_, part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return false;
  struct stat made {};
  const bool known = ::fstat(file, &made) == 0;
  ::close(file);
  ::unlinkat(folder_, part.c_str(), 0);
  return known && made.st_uid == owner;
}

void OwnedFolder::Require(int file, const fs::path& path, mode_t kind, mode_t forbidden) const {
  const struct stat found = StatusOf(file, path);
  if ((found.st_mode & S_IFMT) == kind && (found.st_mode & forbidden) == 0 &&
      IsThisUser(found.st_uid)) {
    return;
  }
  throw RunError(
      "'{}' must be a {} of user {} and writable by nobody else, it is of user {} with mode {:o}",
      path.string(), kind == S_IFDIR ? "folder" : "file", ::geteuid(), found.st_uid, found.st_mode);
}

}  // namespace allot
