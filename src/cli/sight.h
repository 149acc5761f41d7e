#pragma once
// Whether a checkpoint's training saw the workloads of a world.

#include <nlohmann/json.hpp>

#include "cli/world.h"
#include "metrics/evaluation.h"

namespace allot {

// What the configuration in the checkpoint says: where it was trained, by workload and window.
Sight SightOf(const nlohmann::json& config, World& world);

}  // namespace allot
