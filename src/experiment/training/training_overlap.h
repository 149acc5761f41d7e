#pragma once
// Checks whether a checkpoint's training saw the workloads of a world.

#include <nlohmann/json.hpp>

#include "experiment/world.h"
#include "metrics/evaluation.h"

namespace allot {

// Compares the sources in the checkpoint's configuration (experiment/sources.h): kSeen if one
// overlaps, kUnseen if all are other windows of the same trace, else kNotKnown.
TrainingOverlap TrainingOverlapOf(const nlohmann::json& config, World& world);

}  // namespace allot
