#include "elastic/environment.h"

#include <cstdlib>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

std::string Required(const char* name) {
  if (const auto value = EnvironmentVariable(name)) return *value;
  throw UsageError("environment: {} must be set for a worker, got nothing (did allot start it?)",
                   name);
}

std::optional<Seconds> CheckpointEvery() {
  const auto text = EnvironmentVariable("ALLOT_CHECKPOINT_EVERY");
  if (!text) return std::nullopt;
  const auto seconds = ParseNumber(*text);
  if (seconds && *seconds > 0) return seconds;
  throw UsageError("environment: ALLOT_CHECKPOINT_EVERY must be seconds > 0, got '{}'", *text);
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
          .identity = EnvironmentVariable("ALLOT_IDENTITY_FILE"),
          .checkpoint_every = CheckpointEvery()};
}

}  // namespace allot
