#include "clients/slurm/foreign_bytes.h"

#include <cstdint>

namespace allot {
namespace {

// U+10FF00 to U+10FFFF in UTF-8: F4 8F, then 1011 11bb, 10bb bbbb with the byte's bits.
constexpr unsigned char kFirst = 0xF4;
constexpr unsigned char kSecond = 0x8F;
constexpr unsigned char kThird = 0xBC;
constexpr unsigned char kTwoBits = 0x03;
constexpr unsigned char kSixBits = 0x3F;
constexpr unsigned char kContinued = 0x80;

unsigned char At(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

bool Continues(std::string_view text, std::size_t i) {
  return (At(text, i) & ~kSixBits & 0xFF) == kContinued;
}

bool IsHidden(std::string_view text, std::size_t i) {
  return At(text, i) == kFirst && At(text, i + 1) == kSecond && At(text, i + 2) >= kThird &&
         Continues(text, i + 2) && Continues(text, i + 3);
}

// Length of the character of UTF-8 that begins at `i`; 0: none does (RFC 3629, table of section 4).
std::size_t Length(std::string_view text, std::size_t i) {
  const unsigned char first = At(text, i);
  const unsigned char second = At(text, i + 1);
  if (first < kContinued) return 1;
  if (!Continues(text, i + 1)) return 0;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) {
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
    return Continues(text, i + 2) ? 3 : 0;
  }
  if (first < 0xF0 || first > 0xF4) return 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return Continues(text, i + 2) && Continues(text, i + 3) ? 4 : 0;
}

}  // namespace

std::string HideForeignBytes(std::string_view text) {
  std::string hidden;
  hidden.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = IsHidden(text, i) ? 0 : Length(text, i);
    if (length > 0) {
      hidden.append(text, i, length);
      i += length;
      continue;
    }
    const unsigned char byte = At(text, i++);
    hidden += static_cast<char>(kFirst);
    hidden += static_cast<char>(kSecond);
    hidden += static_cast<char>(kThird | (byte >> 6));
    hidden += static_cast<char>(kContinued | (byte & kSixBits));
  }
  return hidden;
}

std::string ShowForeignBytes(std::string_view hidden) {
  std::string text;
  text.reserve(hidden.size());
  for (std::size_t i = 0; i < hidden.size();) {
    if (!IsHidden(hidden, i)) {
      text += hidden[i++];
      continue;
    }
    text +=
        static_cast<char>(((At(hidden, i + 2) & kTwoBits) << 6) | (At(hidden, i + 3) & kSixBits));
    i += 4;
  }
  return text;
}

}  // namespace allot
