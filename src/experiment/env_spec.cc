#include "experiment/env_spec.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "experiment/world_options.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json JsonOf(const T& value) {
  return value;
}

template <typename T>
Json JsonOf(const std::optional<T>& value) {
  return *value;  // asked only of what differs from the default, which is none
}

Json JsonOf(const std::vector<double>& values) {
  return values.size() == 1 ? Json(values.front()) : Json(values);
}

}  // namespace

Json EnvArguments(const WorldSpec& world) {
  const WorldSpec defaults;
  Json arguments = Json::object();
  for (const WorldOption& option : WorldOptionTable()) {
    std::string name = option.name;
    std::ranges::replace(name, '-', '_');
    std::visit(
        [&](const auto member) {
          if (world.*member != defaults.*member) arguments[name] = JsonOf(world.*member);
        },
        option.value);
  }
  return arguments;
}

Json GymEnvSpec(const WorldSpec& world, const StepWindow& window) {
  Json arguments = EnvArguments(world);
  // An episode does not depend on how many there are, and logs of one world can be combined.
  arguments.erase("workloads");
  if (world.setting.empty()) arguments["windows"] = "weekly";
  arguments["action"] = "choice";
  arguments["reward"] = "jct";  // that of logged steps
  arguments["max_jobs"] = window.jobs;
  arguments["max_configurations"] = window.configurations;
  return {{"id", "allot/GpuCluster-v0"},
          {"entry_point", "allot.envs:GpuClusterEnv"},
          {"reward_threshold", nullptr},
          {"nondeterministic", false},
          {"max_episode_steps", nullptr},
          {"order_enforce", true},
          {"disable_env_checker", false},
          {"kwargs", std::move(arguments)},
          {"additional_wrappers", Json::array()},
          {"vector_entry_point", "allot.envs:GpuClusterVectorEnv"}};
}

}  // namespace allot
