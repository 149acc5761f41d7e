#include "core/temporary_folder.h"

#include <cstdlib>
#include <system_error>

#include "core/error.h"

namespace allot {

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::string pattern = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw RunError("cannot make a temporary folder '{}': {}", pattern, SystemMessage());
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // what is left there, the system clears
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace allot
