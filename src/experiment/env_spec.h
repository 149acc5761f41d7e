#pragma once
// The specification from which Gymnasium makes the Python environment of a world. Episode logs
// contain it, so that Minari's recover_environment() restores the environment.

#include <nlohmann/json_fwd.hpp>

#include "episode_log/step_columns.h"
#include "experiment/world_spec.h"

namespace allot {

// The options of the world that differ from the default, by their names with _ for -, as JSON
// numbers, texts, booleans or lists.
nlohmann::ordered_json EnvArguments(const WorldSpec& world);

// Gymnasium's EnvSpec of "allot/GpuCluster-v0" with actions as choices. Its arguments are those of
// EnvArguments without the number of workloads, with max_jobs and max_configurations.
nlohmann::ordered_json GymEnvSpec(const WorldSpec& world, const StepWindow& window);

}  // namespace allot
