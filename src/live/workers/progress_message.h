#pragma once
// What a worker says of how training goes (docs/formats/worker_protocol.md), each number by a rule.
// Used by WorkerHub.

#include <nlohmann/json.hpp>

#include "live/runtimes/runtime.h"

namespace allot {

// `known` with what the message says; the step only where `leads`: of the others it may lag.
// DataError naming the rule and both values.
JobProgress ReadProgress(const nlohmann::json& message, bool leads, const JobProgress& known);

}  // namespace allot
