#include "clients/slurm/slurm_module.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "core/version.h"

namespace allot {
namespace {

constexpr std::string_view kPrefix = "liballot_slurm-";
constexpr std::string_view kSuffix = ".so";

// Beside the program, as it was built; where it is installed.
std::vector<std::filesystem::path> Folders() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return {here, here / ALLOT_MODULES};
}

// What is loaded acts as we do, root it may be: nobody else may have made it, or change it.
Status OursAlone(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    return Status::Refused("cannot ask for {}: {}", path.string(), SystemMessage());
  }
  const bool owner = found.st_uid == 0 || found.st_uid == ::geteuid();
  const bool group =
      (found.st_mode & S_IWGRP) == 0 || found.st_gid == 0 || found.st_gid == ::getegid();
  if (owner && group && (found.st_mode & S_IWOTH) == 0) return Status::Ok();
  return Status::Refused(
      "{} must be of root or of user {} and writable by nobody else, it is of user {} with mode "
      "{:o}",
      path.string(), ::geteuid(), found.st_uid, found.st_mode & 07777U);
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
  for (const std::filesystem::path& each : {module.path.parent_path(), module.path}) {
    if (Status ours = OursAlone(each); !ours.ok()) return ours;
  }
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
  try {
    back_end->reset(open(patience));
  } catch (const std::exception& error) {
    return Status::Refused("{}", error.what());
  }
  return Status::Ok();
}

}  // namespace allot
