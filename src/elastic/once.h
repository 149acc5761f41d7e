#pragma once
// `allot-elastic once -- PROGRAM ...` in the script of a job that is resized by a restart: runs the
// program until it has completed once.
//
// If the program completes just before SIGTERM reaches it, as on a node whose slurmd is away for a
// second, Slurm still requeues the script and drops the exit code. So an exit code of 0 without an
// earlier SIGTERM is recorded in the job's folder (job_folder.h), and the next start runs nothing.
//
// Called by elastic/program/main.cc.

#include <string>
#include <vector>

namespace allot {

// Returns the program's exit code, or 128 plus the number of the signal that ended it; 0 if it
// completed at an earlier start. RunError if it cannot be run or its completion not be recorded.
int RunOnce(std::vector<std::string> command);

}  // namespace allot
