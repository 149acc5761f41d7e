#pragma once
// The options of the agent's side of an environment, from a dict of Python.

#include <map>
#include <string>

#include "bindings/binding.h"
#include "core/error.h"
#include "envs/agent_side.h"

namespace allot {

inline bool IsGraph(const nb::dict& given) {
  const auto obs = nb::cast<std::string>(given["obs"]);
  if (obs != "jobs" && obs != "graph") {
    throw UsageError("obs must be 'jobs' or 'graph', got '{}'", obs);
  }
  return obs == "graph";
}

inline AgentSideOptions AgentSideOptionsOf(const nb::dict& given) {
  AgentSideOptions options;
  const std::string mode = nb::cast<std::string>(given["action"]);
  const std::map<std::string, ActionMode> modes = {{"index", ActionMode::kIndex},
                                                   {"increments", ActionMode::kSequence},
                                                   {"choice", ActionMode::kChoice}};
  const auto found = modes.find(mode);
  if (found == modes.end()) {
    throw UsageError("action must be 'index', 'increments' or 'choice', got '{}'", mode);
  }
  options.mode = found->second;
  options.max_jobs = nb::cast<int>(given["max_jobs"]);
  options.max_configurations = nb::cast<int>(given["max_configurations"]);
  options.configurations = nb::cast<bool>(given["configurations_in_obs"]);
  const int nodes = nb::cast<int>(given["max_nodes"]);
  if (nodes < 0) throw UsageError("max_nodes must be >= 0, got {}", nodes);
  options.graph_nodes = IsGraph(given) ? nodes : 0;  // 0: as many as the cluster has
  options.placement = nb::cast<std::string>(given["placement"]);
  options.strict = nb::cast<bool>(given["strict"]);
  return options;
}

}  // namespace allot
