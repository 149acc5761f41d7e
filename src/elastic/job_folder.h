#pragma once
// The folder of a Slurm job, `.allot-<user id>/<number>` where it was submitted. The commands of
// allot-elastic (launcher.h) leave files there for workers and for the job's next start. It belongs
// to its user alone, so that several users may submit in one folder.

#include <filesystem>

namespace allot {

// The file in it that marks the job's work as done: a worker or script that finds it ends.
inline constexpr const char* kFinished = "finished";

// Returns the folder of the job whose script calls, and creates it if necessary. It survives a
// restart by Slurm; files that an earlier job of the same number left are removed. UsageError
// outside of a job, RunError if another user owns that path; `command` begins both texts.
std::filesystem::path OwnJobFolder(const char* command);

}  // namespace allot
