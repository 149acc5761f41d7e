#pragma once
// The environment in Python whose episodes are those of a world: what Gymnasium makes it from. In
// episode logs, so that Minari's recover_environment() gives it back.

#include <nlohmann/json_fwd.hpp>

#include "episode_log/step_columns.h"
#include "experiment/world_spec.h"

namespace allot {

// The options of the world that are not the default, by their names with _ for -, as values of
// JSON: numbers, texts, truth values, lists.
nlohmann::ordered_json EnvArguments(const WorldSpec& world);

// Gymnasium's EnvSpec of "allot/GpuCluster-v0" with actions as choices, its arguments being
// EnvArguments without the number of workloads, max_jobs and max_configurations.
nlohmann::ordered_json GymEnvSpec(const WorldSpec& world, const StepWindow& window);

}  // namespace allot
