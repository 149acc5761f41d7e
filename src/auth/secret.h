#pragma once
// Secrets: made, compared, and shown to be known without being said. For the daemon, its workers,
// and what runtimes derive from a key of theirs.

#include <string>
#include <string_view>

namespace allot {

// 128 random bits of the system as 32 hexadecimal digits. RunError where it has none.
std::string NewToken();
bool LooksLikeToken(std::string_view text);  // 32 digits of 0-9, a-f

// In time that tells nothing but whether their lengths are the same.
bool SameSecret(std::string_view a, std::string_view b);

// HMAC-SHA256 of `text` as 64 hexadecimal digits: whoever does not know `key` cannot make it.
std::string KeyedCode(std::string_view key, std::string_view text);

}  // namespace allot
