#pragma once
// A new folder below the system's place for temporary files, removed with all that is in it.

#include <filesystem>
#include <string>

namespace allot {

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name);  // PLACE/NAME-XXXXXX; RunError
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace allot
