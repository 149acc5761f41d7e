#pragma once
// Secrets: creation, comparison, and proofs of knowledge that do not reveal them. Used by the
// daemon, its workers, and runtimes that derive secrets from a key.

#include <string>
#include <string_view>

namespace allot {

// 128 random bits of the system as 32 hexadecimal digits. RunError if it has none.
std::string NewToken();
bool LooksLikeToken(std::string_view text);  // 32 digits of 0-9, a-f

// Compares in a time that reveals only whether the lengths are equal.
bool SameSecret(std::string_view a, std::string_view b);

// HMAC-SHA256 of `text` as 64 hexadecimal digits, which cannot be computed without `key`.
std::string KeyedCode(std::string_view key, std::string_view text);

}  // namespace allot
