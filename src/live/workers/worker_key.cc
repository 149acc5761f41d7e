#include "live/workers/worker_key.h"

#include <sys/stat.h>
#include <unistd.h>

#include "auth/secret.h"
#include "core/error.h"
#include "core/file.h"
#include "core/owned_folder.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr std::size_t kShortestKey = 32;
constexpr std::size_t kTokenDigits = 32;

// Who reads the key can compute the token of every job. A platform may provide it as a file of
// root's that the daemon's group can read.
void RequireSecret(const std::filesystem::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) {
    throw DataError("cannot open '{}': {}", file.string(), SystemMessage());
  }
  const mode_t forbidden = found.st_uid == ::geteuid() ? S_IRWXG | S_IRWXO : S_IWGRP | S_IRWXO;
  if ((found.st_uid == ::geteuid() || found.st_uid == 0) && (found.st_mode & forbidden) == 0) {
    return;
  }
  throw DataError(
      "the key of workers' tokens, '{0}', must be readable for user {1} alone, it is of user {2} "
      "with mode {3:o}: call 'chown {1} {0}' and 'chmod 600 {0}', and replace it if another user "
      "may have read it",
      file.string(), ::geteuid(), found.st_uid, found.st_mode & 07777U);
}

}  // namespace

std::string KeyedDigits(std::string_view key, std::string_view purpose) {
  return KeyedCode(key, purpose).substr(0, kTokenDigits);
}

std::string WorkerKey(const std::filesystem::path& file, bool make) {
  if (make && !std::filesystem::exists(file)) {
    OwnedFolder::OpenOrMake(file.parent_path())
        .Write(file.filename().string(), NewToken() + NewToken() + "\n");
  }
  RequireSecret(file);
  const std::string text = ReadTextFile(file.string());
  std::string key(Trim(text));
  if (key.size() < kShortestKey) {
    throw DataError("the key of workers' tokens must have at least {} characters, got {} ({})",
                    kShortestKey, key.size(), file.string());
  }
  return key;
}

}  // namespace allot
