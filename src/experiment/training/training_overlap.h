#pragma once
// Whether a checkpoint's training saw the workloads of a world.

#include <nlohmann/json.hpp>

#include "experiment/world.h"
#include "metrics/evaluation.h"

namespace allot {

// What the configuration in the checkpoint says it was made from (experiment/sources.h): kSeen if
// some of it overlaps, kUnseen if all of it lies apart in the same trace, else kNotKnown.
TrainingOverlap TrainingOverlapOf(const nlohmann::json& config, World& world);

}  // namespace allot
