#pragma once
// What environments and pools of them are made of: the world's options as texts, the environment's
// own as a dict of allot.envs.options.

#include <map>
#include <string>

#include "bindings/binding.h"
#include "envs/cluster_env.h"

namespace allot {

struct EnvironmentOptions {
  EpisodeSource episodes;
  ClusterEnvOptions of_each;
};

// UsageError naming the option.
EnvironmentOptions EnvironmentOptionsOf(const std::map<std::string, std::string>& world,
                                        const nb::dict& own);

}  // namespace allot
