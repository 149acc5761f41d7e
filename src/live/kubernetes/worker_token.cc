#include "live/kubernetes/worker_token.h"

#include "auth/secret.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr std::size_t kShortestKey = 32;
constexpr std::size_t kTokenDigits = 32;

}  // namespace

std::string KeyedDigits(std::string_view key, std::string_view purpose) {
  return KeyedCode(key, purpose).substr(0, kTokenDigits);
}

std::string WorkerKey(const std::filesystem::path& file, bool make) {
  if (make && !std::filesystem::exists(file)) {
    WriteTextFile(file, NewToken() + NewToken() + "\n");
    std::filesystem::permissions(
        file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  const std::string text = ReadTextFile(file.string());
  std::string key(Trim(text));
  if (key.size() < kShortestKey) {
    throw DataError("kubernetes: a key must have at least {} characters, got {} ({})", kShortestKey,
                    key.size(), file.string());
  }
  return key;
}

}  // namespace allot
