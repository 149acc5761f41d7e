#pragma once
// The secrets of workers, derived from one key by HMAC-SHA256 (auth/secret.h). Every daemon with
// the key knows them all, and none is stored. For runtimes whose daemons may lose their state
// folder, or take over from another daemon.

#include <filesystem>
#include <string>
#include <string_view>

namespace allot {

// 32 hexadecimal digits for `purpose` ("token of job UID"), which reveal nothing of others.
std::string KeyedDigits(std::string_view key, std::string_view purpose);

// Returns the key in `file`, without surrounding blanks. If there is no file and `make` is set,
// creates it with mode 0600. DataError for a key of less than 32 characters, and for a file that
// other users can read.
std::string WorkerKey(const std::filesystem::path& file, bool make);

}  // namespace allot
