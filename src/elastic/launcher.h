#pragma once
// `allot-elastic`: starts a user's program on a Slurm cluster. Two commands communicate through the
// folder of the job (job_folder.h), which all nodes see:
//
//   run -- PROGRAM ...   in the user's script: writes an order (arguments, environment, working
//                        folder), then waits until the job's work is done
//   worker               in each worker job: waits for the order, adds the variables of its own
//                        node, and becomes the program
//
// Called by elastic/program/main.cc.

#include <chrono>
#include <string>
#include <vector>

namespace allot {

// Both return the exit code of the process.
int RunUserJob(const std::vector<std::string>& command);
int RunWorker(std::chrono::seconds patience);  // returns only when it fails

}  // namespace allot
