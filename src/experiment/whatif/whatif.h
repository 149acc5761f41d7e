#pragma once
// `allot whatif`: compares how the jobs of a trace were served with the present policy, other
// policies, a larger cluster, and elastic jobs where their speeds are known.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/world_spec.h"
#include "report/whatif.h"

namespace allot {

// Approximates Slurm's backfill: first in, first out, and younger jobs start if, by the time
// limits, they do not delay the first waiting job (Slurm reserves for more jobs than the first).
inline constexpr const char* kPresentPolicy = "easy";
// Simple changes first, then the strongest policies.
inline constexpr const char* kWhatIfPolicies = "fifo,sjf,las,srtf,index";

struct WhatIfOptions {
  WorldSpec world;
  std::string present = kPresentPolicy;
  std::string policies = kWhatIfPolicies;  // alternatives, joined by commas
  std::string checkpoint{};                // folder of a trained policy, or ""
  std::string more_nodes{};                // the text that AddedNodes takes; "0" adds none
  // If set, the smallest number of added nodes is searched with which the mean wait under the
  // present policy is at most so long.
  std::optional<Seconds> target_wait{};
  std::string elastic_share{};     // for ParseElasticShares; "": not asked for
  ExperimentOptions experiment{};  // out: folder for the runs, one below it for each world
  // Called with notes before the runs: rows left out of the trace, overload.
  std::function<void(const std::string&)> on_note{};
};

struct WhatIfResult {
  WhatIf what_if;
  std::vector<std::string> evaluations;  // folders below `out`, for the report
};

// UsageError for unknown policies or nodes; also throws the errors of World and RunExperiment.
WhatIfResult RunWhatIf(const WhatIfOptions& options);

}  // namespace allot
