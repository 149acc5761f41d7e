#include "elastic/environment.h"

#include <cstdlib>

#include "core/error.h"

namespace allot {
namespace {

std::string Required(const char* name) {
  if (const auto value = EnvironmentVariable(name)) return *value;
  throw UsageError("environment: {} must be set for a worker, got nothing (did allot start it?)",
                   name);
}

}  // namespace

std::optional<std::string> EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

WorkerEnvironment WorkerEnvironment::OfThisProcess() {
  return {.job = Required("ALLOT_JOB_ID"),
          .worker = Required("ALLOT_WORKER_ID"),
          .daemon = Required("ALLOT_DAEMON"),
          .token = Required("ALLOT_TOKEN"),
          .run_dir = Required("ALLOT_RUN_DIR"),
          .identity = EnvironmentVariable("ALLOT_IDENTITY_FILE")};
}

}  // namespace allot
