#include "table/text_encoding.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "table/byte_order_mark.h"

namespace allot {
namespace {

// 0x80 to 0x9F of code page 1252; the five that it leaves open are control characters.
constexpr std::array<char32_t, 32> kWindows1252 = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

void AppendUtf8(char32_t point, std::string* text) {
  const auto tail = [&](int shift) {
    *text += static_cast<char>(0x80 | ((point >> shift) & 0x3F));
  };
  if (point < 0x80) {
    *text += static_cast<char>(point);
  } else if (point < 0x800) {
    *text += static_cast<char>(0xC0 | (point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    *text += static_cast<char>(0xE0 | (point >> 12));
    tail(6);
    tail(0);
  } else {
    *text += static_cast<char>(0xF0 | (point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string FromUtf16(std::string_view bytes, bool big_endian, const std::string& path) {
  const auto unit = [&](std::size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<char32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  const auto fail = [&](const char* rule, std::size_t at) {
    return DataError("{}, got byte {} of {} ({}:1)", rule, at + 1, bytes.size(), path);
  };
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 2; at < bytes.size(); at += 2) {
    if (bytes.size() - at < 2) throw fail("UTF-16 text has an even number of bytes", at);
    char32_t point = unit(at);
    if (point >= 0xD800 && point < 0xE000) {
      const bool more = point < 0xDC00 && bytes.size() - at >= 4;
      const char32_t low = more ? unit(at + 2) : 0;
      if (low < 0xDC00 || low > 0xDFFF) throw fail("UTF-16 text has whole characters", at);
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
      at += 2;
    }
    AppendUtf8(point, &text);
  }
  return text;
}

std::string FromWindows1252(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    AppendUtf8(byte >= 0x80 && byte < 0xA0 ? kWindows1252.at(byte - 0x80U) : byte, &text);
  }
  return text;
}

bool HasControlBytes(std::string_view bytes) {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) {
    return (c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f') || c == 0x7F;
  });
}

}  // namespace

std::optional<std::size_t> FindBadUtf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = byte(i);
    std::size_t more = 0;
    unsigned low = 0x80, high = 0xBF;  // of the second byte
    if (lead < 0x80) {
      ++i;
      continue;
    } else if (lead >= 0xC2 && lead <= 0xDF) {
      more = 1;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      more = 2;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      more = 3;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return i;
    }
    if (text.size() - i <= more || byte(i + 1) < low || byte(i + 1) > high) return i;
    for (std::size_t k = 2; k <= more; ++k) {
      if (byte(i + k) < 0x80 || byte(i + k) > 0xBF) return i;
    }
    i += more + 1;
  }
  return std::nullopt;
}

DecodedText DecodeText(std::string bytes, const std::string& path) {
  if (bytes.starts_with("\xFF\xFE")) return {FromUtf16(bytes, false, path), "UTF-16"};
  if (bytes.starts_with("\xFE\xFF")) return {FromUtf16(bytes, true, path), "UTF-16"};
  if (bytes.starts_with(kByteOrderMark)) bytes.erase(0, kByteOrderMark.size());
  if (!FindBadUtf8(bytes) || HasControlBytes(bytes)) return {std::move(bytes), "UTF-8"};
  return {FromWindows1252(bytes), "Latin-1"};
}

}  // namespace allot
