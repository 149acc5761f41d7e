#include <algorithm>
#include <filesystem>

#include "core/file.h"
#include "tests/fuzz/fuzz_target.h"

namespace allot {

// Of targets whose corpus holds inputs as they are.
std::vector<std::string> SampleInputs(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  inputs.reserve(paths.size());
  for (const auto& path : paths) inputs.push_back(ReadTextFile(path.string()));
  return inputs;
}

}  // namespace allot
