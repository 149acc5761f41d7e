#include "core/writable.h"

#include <unistd.h>

#include "core/error.h"

namespace allot {

namespace fs = std::filesystem;

void RequireWritable(const fs::path& path) {
  if (path.empty()) throw UsageError("a path must not be empty, got ''");
  fs::path there = fs::absolute(path).lexically_normal();
  if (!there.has_filename()) there = there.parent_path();  // "runs/"
  std::error_code ignored;
  if (fs::is_other(there, ignored) && ::access(there.c_str(), W_OK) == 0) return;  // a device
  if (!fs::is_directory(there, ignored)) there = there.parent_path();
  while (!fs::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, ignored)) {
    throw RunError("cannot write '{}': '{}' is not a folder", path.string(), there.string());
  }
  if (::access(there.c_str(), W_OK | X_OK) != 0) {
    throw RunError("cannot write '{}': folder '{}': {}", path.string(), there.string(),
                   SystemMessage());
  }
}

void RequireFilePath(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw UsageError("the result is a file, '{}' is a folder", path.string());
  }
}

}  // namespace allot
