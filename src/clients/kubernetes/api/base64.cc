#include "clients/kubernetes/api/base64.h"

#include <cstdint>

namespace allot {

std::optional<std::string> FromBase64(std::string_view text) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int letters = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    const std::size_t value = kLetters.find(c);
    if (c == '=') {
      ++padding;
    } else if (value == std::string_view::npos || padding > 0) {
      return std::nullopt;
    }
    bits = bits << 6 | (c == '=' ? 0 : static_cast<std::uint32_t>(value));
    if (++letters % 4 != 0) continue;
    for (int byte = 2; byte >= padding; --byte) {
      bytes.push_back(static_cast<char>(bits >> (8 * byte) & 0xff));
    }
  }
  if (letters % 4 != 0 || padding > 2) return std::nullopt;
  return bytes;
}

}  // namespace allot
