#include "core/inputs.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

std::uint64_t HashFolder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::uint64_t hash = kEmptyHash;
  for (const fs::path& file : files) {
    const std::string name = file.lexically_relative(folder).string();
    hash =
        HashTextFile(file, StableHash(fmt::format("\n{} {}\n", name, fs::file_size(file)), hash));
  }
  return hash;
}

}  // namespace

void AddInputs(const std::vector<std::string>& paths, Inputs* inputs) {
  for (const std::string& path : paths) {
    if (inputs->contains(path)) continue;
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (!fs::is_regular_file(status) && !fs::is_directory(status)) continue;
    const std::uint64_t hash =
        fs::is_directory(status) ? HashFolder(path) : HashTextFile(path, kEmptyHash);
    inputs->emplace(path, fmt::format("{:016x}", hash));
  }
}

void RequireSameInputs(const Inputs& there, const Inputs& now, const std::string& results) {
  const auto shown = [](const Inputs& inputs, const std::string& path) {
    const auto found = inputs.find(path);
    return found == inputs.end() ? "no such input" : "fingerprint " + found->second;
  };
  for (const Inputs* side : {&there, &now}) {
    for (const auto& [path, fingerprint] : *side) {
      if (shown(there, path) == shown(now, path)) continue;
      throw DataError(
          "results of different inputs are not mixed: '{}' was made from other content of '{}' "
          "({}, now {}): restore it, or give another --out",
          results, path, shown(there, path), shown(now, path));
    }
  }
}

}  // namespace allot
