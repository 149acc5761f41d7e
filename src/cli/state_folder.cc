#include "cli/state_folder.h"

#include <cstdlib>

#include "core/error.h"

namespace allot {

std::filesystem::path StateFolder(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0') {
    return std::filesystem::path(state) / "allot";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / ".local/state/allot";
  }
  throw UsageError("no HOME to keep state in: give --state FOLDER");
}

}  // namespace allot
