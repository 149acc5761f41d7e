#pragma once
// The environment variables of a worker process (docs/formats/worker_protocol.md), read once and
// checked. Used by Member, ElasticWorker and the launcher.

#include <filesystem>
#include <optional>
#include <string>

#include "core/types.h"

namespace allot {

// The value of an environment variable; nullopt if it is not set or empty.
std::optional<std::string> EnvironmentVariable(const char* name);

struct WorkerEnvironment {
  std::string job;                // ALLOT_JOB_ID
  std::string worker;             // ALLOT_WORKER_ID
  std::string daemon;             // ALLOT_DAEMON: "unix:/path" or "tcp:host:port"; several, of
                                  // which one is active, are joined by ','
  std::string token;              // ALLOT_TOKEN
  std::filesystem::path run_dir;  // ALLOT_RUN_DIR (OpenRunFolder)
  // ALLOT_IDENTITY_FILE: the platform keeps a proof of the worker's identity there, and renews it.
  std::optional<std::filesystem::path> identity{};
  std::optional<Seconds> checkpoint_every{};  // ALLOT_CHECKPOINT_EVERY: the daemon's advice

  // UsageError naming the variable that is missing or wrong.
  static WorkerEnvironment OfThisProcess();
};

}  // namespace allot
