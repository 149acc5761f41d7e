#pragma once
// The folder of a job's files. On Slurm it is `.allot-<user id>/<number>` where the job was
// submitted, and the commands of allot-elastic (launcher.h, once.h) leave files there for workers
// and for the job's next start. Both of its folders belong to the user alone. Whoever may write to
// the submit folder can rename `.allot-<user id>`, but neither read nor replace nor redirect what
// is in it (core/owned_folder.h, ADR 97).

#include <filesystem>
#include <optional>

#include "core/owned_folder.h"

namespace allot {

// Names of files in it. A worker or script that finds `kFinished` ends: the job's work is done.
inline constexpr const char* kFinished = "finished";
inline constexpr const char* kCheckpoint = "checkpoint";
inline constexpr const char* kOrder = "command.json";  // what workers run

// Returns the folder of the Slurm job whose script calls, and creates it if necessary. It survives
// a restart by Slurm; files that an earlier job of the same number left are removed. UsageError
// outside of a job; RunError if the folder is another user's, or if every user may rename what is
// in the submit folder.
OwnedFolder MakeJobFolder();

// Opens that folder at `run_dir` (ALLOT_RUN_DIR). Nullopt until the job's script has made it;
// RunError if it is not this user's.
std::optional<OwnedFolder> OpenJobFolder(const std::filesystem::path& run_dir);

// The same for a training program on any cluster. Elsewhere than on Slurm, `run_dir` is a folder of
// the platform or the user, such as a volume, and is created if necessary.
OwnedFolder OpenRunFolder(const std::filesystem::path& run_dir);

}  // namespace allot
