#pragma once
// What the bytes of a text file say, as UTF-8: what is read ends up in JSON, which must be UTF-8.
// UTF-16 is known by its byte order mark. Text that is not UTF-8 and has no control bytes is taken
// for Latin-1, as Windows writes it (code page 1252).

#include <optional>
#include <string>
#include <string_view>

namespace allot {

// Position of the first byte that is not well-formed UTF-8 (Unicode 15, table 3-7).
std::optional<std::size_t> FindBadUtf8(std::string_view text);

struct DecodedText {
  std::string text;      // UTF-8; bytes that are no text of any of these stay as they are
  std::string encoding;  // "UTF-8", "UTF-16" or "Latin-1"
};

// DataError naming `path` and the byte for UTF-16 that is cut short or has half a character.
DecodedText DecodeText(std::string_view bytes, const std::string& path);

}  // namespace allot
