#pragma once
// The folder of a Slurm job, `.allot-<user id>/<number>` where it was submitted: what the commands
// of allot-elastic (launcher.h) leave there for workers, or for the job's next start. It is of its
// user alone, so that several may submit in one folder.

#include <filesystem>
#include <string>

namespace allot {

// Within it, once the job's work is done: whoever finds it does nothing more.
inline constexpr const char* kFinished = "finished";

// "": not set.
std::string Variable(const char* name);

// Of the job whose script calls; made where it is not there. It stays at a restart by Slurm, and is
// emptied of what an earlier job of the same number left. UsageError outside of a job, RunError
// where somebody else's is in its place; `command` begins both.
std::filesystem::path OwnJobFolder(const char* command);

}  // namespace allot
