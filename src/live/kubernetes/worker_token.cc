#include "live/kubernetes/worker_token.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "live/worker_hub.h"

namespace allot {
namespace {

constexpr std::size_t kShortestKey = 32;
constexpr std::size_t kTokenBytes = 16;

}  // namespace

std::string KeyedDigits(std::string_view key, std::string_view purpose) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size(), bytes.data(),
           &size) == nullptr) {
    throw RunError("OpenSSL has no HMAC-SHA256");
  }
  std::string digits;
  for (std::size_t i = 0; i < kTokenBytes; ++i) digits += fmt::format("{:02x}", bytes[i]);
  return digits;
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
