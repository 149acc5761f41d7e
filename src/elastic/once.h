#pragma once
// `allot-elastic once -- PROGRAM ...` in the script of a job that is resized by a restart: runs the
// program until it has come to its end once.
//
// Slurm decides about a requeue by what it knows. Where the program comes to its end before SIGTERM
// reaches it, as on a node whose slurmd is away for a second, Slurm runs the script again all the
// same, and drops the exit code. So the end is written down in the job's folder (job_folder.h): an
// exit code of 0, unless SIGTERM came before it. At the next start nothing is run then.
//
// Called by elastic/program/main.cc.

#include <string>
#include <vector>

namespace allot {

// The program's exit code, 128 and the signal's number where one ended it; 0 where it came to its
// end at an earlier start. RunError where it cannot be run, or its end not be written down.
int RunOnce(std::vector<std::string> command);

}  // namespace allot
