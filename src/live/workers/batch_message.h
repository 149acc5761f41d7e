#pragma once
// What a job whose batch follows its workers says of its batch (docs/formats/worker_protocol.md),
// each number by a rule. DataError naming the rule and both values. Used by WorkerHub.

#include <nlohmann/json.hpp>

#include "live/runtimes/runtime.h"

namespace allot {

BatchReport ReadBatch(const nlohmann::json& batch);
// The same rules for limits that come from elsewhere: a journal.
void CheckBatchLimits(const BatchLimits& limits);

}  // namespace allot
