#include "auth/secret.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <array>
#include <span>

#include "core/error.h"

namespace allot {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kTokenBytes = 16;

std::string Digits(std::span<const unsigned char> bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    digits.push_back(kDigits[byte >> 4]);
    digits.push_back(kDigits[byte & 15]);
  }
  return digits;
}

}  // namespace

std::string NewToken() {
  std::array<unsigned char, kTokenBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw RunError("the system has no random numbers: {}", SystemMessage());
  }
  return Digits(bytes);
}

bool LooksLikeToken(std::string_view text) {
  return text.size() == 2 * kTokenBytes &&
         text.find_first_not_of(kDigits) == std::string_view::npos;
}

bool SameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string KeyedCode(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data(),
           &size) == nullptr) {
    throw RunError("OpenSSL has no HMAC-SHA256");
  }
  return Digits(std::span(bytes).first(size));
}

}  // namespace allot
