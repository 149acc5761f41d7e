#pragma once
// `allot whatif`: the jobs of a trace as they were served, under the present policy, under others,
// on a larger cluster, and elastic where their speeds are known.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/world_spec.h"
#include "report/whatif.h"

namespace allot {

// Of Slurm's backfill: first in, first out, and younger jobs run where they do not delay the head
// of the line by the time limits (Slurm's own reserves for more jobs than the head).
inline constexpr const char* kPresentPolicy = "easy";
// Simple changes first, then the house's strongest rules.
inline constexpr const char* kWhatIfPolicies = "fifo,sjf,las,srtf,index";

struct WhatIfOptions {
  WorldSpec world;
  std::string present = kPresentPolicy;
  std::string policies = kWhatIfPolicies;  // alternatives, joined by commas
  std::string checkpoint{};                // of a trained policy; "": none
  std::string more_nodes{};                // as AddedNodes; "0": none
  // The smallest number of added nodes is searched with which the present policy lets jobs wait so
  // long on average, at most.
  std::optional<Seconds> target_wait{};
  ExperimentOptions experiment{};  // out: folder for the runs, one below it for each world
  // Takes what a person should know before the runs: what reading left out, overload.
  std::function<void(const std::string&)> on_note{};
};

struct WhatIfResult {
  WhatIf what_if;
  std::vector<std::string> evaluations;  // folders below `out`, for the report
};

// UsageError for policies or nodes that do not exist; errors as World and RunExperiment.
WhatIfResult RunWhatIf(const WhatIfOptions& options);

}  // namespace allot
