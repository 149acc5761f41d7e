#include "elastic/job_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "core/error.h"
#include "elastic/environment.h"

namespace allot {
namespace {

std::string UserFolder() { return fmt::format(".allot-{}", ::geteuid()); }

}  // namespace

OwnedFolder MakeJobFolder() {
  const std::optional<std::string> id = EnvironmentVariable("SLURM_JOB_ID");
  const std::optional<std::string> submitted_in = EnvironmentVariable("SLURM_SUBMIT_DIR");
  if (!id || !submitted_in) {
    throw UsageError("must be in a Slurm job's script, but SLURM_JOB_ID is not set");
  }
  const OwnedFolder above = OwnedFolder::OpenOrMake(*submitted_in);
  if (above.AllMayRename()) {
    throw RunError(
        "the job was submitted in '{0}', where every user may rename the job's folder: let its "
        "owner call 'chmod o-w {0}' or 'chmod +t {0}', or submit the job in another folder",
        submitted_in->c_str());
  }
  OwnedFolder folder = above.MakeOwn(UserFolder()).MakeOwn(*id);
  if (!EnvironmentVariable("SLURM_RESTART_COUNT")) {
    for (const char* left : {kFinished, kCheckpoint, kOrder}) folder.Remove(left);
  }
  return folder;
}

std::optional<OwnedFolder> OpenJobFolder(const std::filesystem::path& run_dir) {
  const std::filesystem::path above = run_dir.parent_path();
  const std::optional<OwnedFolder> submitted_in = OwnedFolder::Open(above.parent_path());
  if (!submitted_in) return std::nullopt;
  const std::optional<OwnedFolder> user = submitted_in->OpenOwn(above.filename());
  return user ? user->OpenOwn(run_dir.filename()) : std::nullopt;
}

OwnedFolder OpenRunFolder(const std::filesystem::path& run_dir) {
  if (run_dir.parent_path().filename() != UserFolder()) return OwnedFolder::OpenOrMake(run_dir);
  if (auto folder = OpenJobFolder(run_dir)) return std::move(*folder);
  throw RunError("the job's folder '{}' must exist, but it was removed or renamed",
                 run_dir.string());
}

}  // namespace allot
