#pragma once
// The secrets of workers: made from one key, so that every daemon with the same key knows them all,
// and nothing need be stored or read back. HMAC-SHA256 (auth/secret.h). For runtimes whose daemons
// may lose their state folder, or take over from another.

#include <filesystem>
#include <string>
#include <string_view>

namespace allot {

// 32 hexadecimal digits for `purpose` ("token of job UID"), which tell nothing of others.
std::string KeyedDigits(std::string_view key, std::string_view purpose);

// The key in `file`, without blanks around it; made there, mode 0600, where there is none and
// `make`. DataError for one of less than 32 characters.
std::string WorkerKey(const std::filesystem::path& file, bool make);

}  // namespace allot
