#include "live/slurm/slurm_module.h"

#include <dlfcn.h>

#include <algorithm>
#include <system_error>

#include "core/version.h"

namespace allot {
namespace {

constexpr std::string_view kPrefix = "liballot_slurm-";
constexpr std::string_view kSuffix = ".so";

// Beside the program, as it was built; where it is installed; above the programs of tests.
std::vector<std::filesystem::path> Folders() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return {here, here / ALLOT_LIBRARIES, here.parent_path()};
}

std::string WhyNot() {
  const char* said = ::dlerror();
  return said == nullptr ? "" : said;
}

}  // namespace

std::vector<SlurmModule> FindSlurmModules() {
  std::vector<SlurmModule> found;
  for (const std::filesystem::path& folder : Folders()) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
      found.push_back({entry.path(),
                       name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size())});
    }
    if (!found.empty()) break;
  }
  std::sort(found.begin(), found.end(), [](const SlurmModule& left, const SlurmModule& right) {
    return left.release > right.release;
  });
  return found;
}

Status OpenSlurmModule(const SlurmModule& module, Seconds patience,
                       std::unique_ptr<SlurmBackEnd>* back_end) {
  // Global: libslurm's own plugins take its functions from there.
  void* const handle = ::dlopen(module.path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) return Status::Refused("{}", WhyNot());
  const auto build =
      reinterpret_cast<decltype(&allot_slurm_build)>(::dlsym(handle, "allot_slurm_build"));
  const auto open =
      reinterpret_cast<decltype(&allot_slurm_open)>(::dlsym(handle, "allot_slurm_open"));
  if (build == nullptr || open == nullptr) {
    return Status::Refused("{} must be a module of allot: {}", module.path.string(), WhyNot());
  }
  if (build() != Version()) {
    return Status::Refused("{} must be of the same build as the program, {}, got {}",
                           module.path.string(), Version(), build());
  }
  back_end->reset(open(patience));
  return Status::Ok();
}

}  // namespace allot
