#pragma once
// A folder that is held by one descriptor, for files that no other user may read, replace or
// redirect, also where the path leads through folders that others can write to: exchanging a part
// of the path after the folder was opened changes nothing. Names are of one part and relative to
// the folder, and links at them are never followed. Jobs keep their files in one
// (elastic/job_folder.h), the daemon its state.
//
// A file or folder counts as this user's if it has the owner that new files of this process get
// there, because file servers may map users (NFS: root_squash, all_squash). All functions throw
// RunErrors that name the path, the rule and what was found.

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/owned_file.h"

namespace allot {

class OwnedFolder {
 public:
  // Opens the folder at `path`, where links are followed. Nullopt if there is none.
  static std::optional<OwnedFolder> Open(const std::filesystem::path& path);
  static OwnedFolder OpenOrMake(const std::filesystem::path& path);
  // The same for a folder in this one, which must pass RequireOwn. A new one gets mode 0700.
  std::optional<OwnedFolder> OpenOwn(const std::string& name) const;
  OwnedFolder MakeOwn(const std::string& name) const;
  ~OwnedFolder();
  OwnedFolder(OwnedFolder&& other) noexcept;
  OwnedFolder& operator=(OwnedFolder&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }  // when it was opened
  // True if every user may rename what is in the folder: writable for all, without sticky bit.
  bool AllMayRename() const;
  // The folder must be this user's, and nobody else may write to it.
  void RequireOwn() const;
  // Sets mode 0700; the folder must be this user's.
  void CloseToOthers() const;

  bool Has(const std::string& name) const;  // a file, not a link
  // Reads a regular file, which must be this user's and not writable for all. Nullopt if there is
  // none.
  std::optional<std::string> Read(const std::string& name) const;
  // Replaces the file by one of mode 0600 with these pieces, whole or not at all, and syncs it.
  void Write(const std::string& name, std::span<const std::string_view> pieces) const;
  void Write(const std::string& name, std::string_view text) const;
  // Waits for the lock that `name` stands for. It is held until the file is closed.
  OwnedFile Lock(const std::string& name) const;
  void Remove(const std::string& name) const;  // does nothing if there is none

 private:
  OwnedFolder(int folder, std::filesystem::path path) : path_(std::move(path)), folder_(folder) {}
  int OpenIn(const std::string& name, int flags) const;  // -1 if there is none
  bool IsThisUser(uid_t owner) const;
  void Require(int file, const std::filesystem::path& path, mode_t kind, mode_t forbidden) const;

  std::filesystem::path path_;
  int folder_ = -1;
};

}  // namespace allot
