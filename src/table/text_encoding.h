#pragma once
// What the bytes of a text file say, as UTF-8: what is read ends up in JSON, which must be UTF-8.
// All files that users give go through it (TraceText, ReadCluster): PowerShell and Excel write
// UTF-16. UTF-16 is known by its byte order mark. Text that is not UTF-8 and has no control bytes
// is taken for Latin-1, as Windows writes it (code page 1252).

#include <optional>
#include <string>
#include <string_view>

namespace allot {

// Position of the first byte that is not well-formed UTF-8 (Unicode 15, table 3-7).
std::optional<std::size_t> FindBadUtf8(std::string_view text);

struct DecodedText {
  // UTF-8 without a byte order mark; bytes that are no text of any of these stay as they are.
  std::string text;
  std::string encoding = "UTF-8";  // or "UTF-16", "Latin-1"
};

// DataError naming `path` and the byte for UTF-16 that is cut short or has half a character.
DecodedText DecodeText(std::string bytes, const std::string& path);

}  // namespace allot
