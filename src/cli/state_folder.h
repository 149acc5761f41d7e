#pragma once
// Where the commands that ask a daemon find it.

#include <filesystem>
#include <string>

namespace allot {

// --state as given, or $XDG_STATE_HOME/allot, or ~/.local/state/allot.
std::filesystem::path StateFolder(const std::string& given);

}  // namespace allot
