#include "elastic/job_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "elastic/environment.h"

namespace allot {
namespace {

// Makes, or takes over, a folder that belongs to this user and that nobody else may enter.
void MakeOwn(const char* command, const std::filesystem::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw RunError("{}: cannot create {}: {}", command, folder.string(), SystemMessage());
  }
  struct stat found {};
  if (lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid()) {
    throw RunError("{}: {} must be a folder of user {}, it is of user {}", command, folder.string(),
                   geteuid(), found.st_uid);
  }
  if (chmod(folder.c_str(), 0700) != 0) {
    throw RunError("{}: cannot close {} to others: {}", command, folder.string(), SystemMessage());
  }
}

}  // namespace

std::filesystem::path OwnJobFolder(const char* command) {
  const std::optional<std::string> id = EnvironmentVariable("SLURM_JOB_ID");
  const std::optional<std::string> submitted_in = EnvironmentVariable("SLURM_SUBMIT_DIR");
  if (!id || !submitted_in) {
    throw UsageError("{}: must be in a Slurm job's script, but SLURM_JOB_ID is not set", command);
  }
  const std::filesystem::path above =
      std::filesystem::path(*submitted_in) / fmt::format(".allot-{}", geteuid());
  std::filesystem::path folder = above / *id;
  MakeOwn(command, above);
  if (!EnvironmentVariable("SLURM_RESTART_COUNT")) std::filesystem::remove_all(folder);
  MakeOwn(command, folder);
  return folder;
}

}  // namespace allot
