#pragma once
// The environment variables of a worker process (docs/formats/worker_protocol.md), read once and
// checked. Used by all that join a job: Member, ElasticWorker, the launcher.

#include <filesystem>
#include <string>

#include "elastic/job_folder.h"

namespace allot {

struct WorkerEnvironment {
  std::string job;                // ALLOT_JOB_ID
  std::string worker;             // ALLOT_WORKER_ID
  std::string daemon;             // ALLOT_DAEMON: "unix:/path" or "tcp:host:port"; of several, one
                                  // of which is in charge, joined by ','
  std::string token;              // ALLOT_TOKEN
  std::filesystem::path run_dir;  // ALLOT_RUN_DIR
  // ALLOT_IDENTITY_FILE: what the worker's platform says that it is, renewed there; "": nothing.
  std::filesystem::path identity{};

  // UsageError naming the variable that is missing.
  static WorkerEnvironment OfThisProcess();

  std::filesystem::path checkpoint() const { return run_dir / "checkpoint"; }
  // Written by rank 0 when the job's work is done: by it the job's script ends.
  std::filesystem::path finished() const { return run_dir / kFinished; }
};

}  // namespace allot
