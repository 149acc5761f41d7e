#include "live/workers/worker_key.h"

#include <fcntl.h>

#include "auth/secret.h"
#include "core/error.h"
#include "core/file.h"
#include "core/owned_file.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr std::size_t kShortestKey = 32;
constexpr std::size_t kTokenDigits = 32;

// Nobody else may read it, not even while it is being written.
void MakeKey(const std::filesystem::path& file) {
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  const std::filesystem::path part = file.string() + ".part";
  std::filesystem::remove(part);
  OwnedFile key(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  key.Write(NewToken() + NewToken() + "\n");
  key.Sync();
  std::filesystem::rename(part, file);
  SyncToDisk(file.parent_path().empty() ? "." : file.parent_path(), file);
}

}  // namespace

std::string KeyedDigits(std::string_view key, std::string_view purpose) {
  return KeyedCode(key, purpose).substr(0, kTokenDigits);
}

std::string WorkerKey(const std::filesystem::path& file, bool make) {
  if (make && !std::filesystem::exists(file)) MakeKey(file);
  const std::string text = ReadTextFile(file.string());
  std::string key(Trim(text));
  if (key.size() < kShortestKey) {
    throw DataError("the key of workers' tokens must have at least {} characters, got {} ({})",
                    kShortestKey, key.size(), file.string());
  }
  return key;
}

}  // namespace allot
