#include "elastic/environment.h"

#include <cstdlib>

#include "core/error.h"

namespace allot {
namespace {

std::string Required(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') {
    throw UsageError("environment: {} must be set for a worker, got nothing (is it run by allot?)",
                     name);
  }
  return value;
}

std::string Optional(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

WorkerEnvironment WorkerEnvironment::OfThisProcess() {
  return {.job = Required("ALLOT_JOB_ID"),
          .worker = Required("ALLOT_WORKER_ID"),
          .daemon = Required("ALLOT_DAEMON"),
          .token = Required("ALLOT_TOKEN"),
          .run_dir = Required("ALLOT_RUN_DIR"),
          .identity = Optional("ALLOT_IDENTITY_FILE")};
}

}  // namespace allot
