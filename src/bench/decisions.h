#pragma once
// What one decision of the learned index policy costs, by number of jobs, whole and by part:
// features with forecasts, network, fill, placement. CPU time of the process, one thread.
//
// The jobs are of DL2's eight types (a worker 2 CPU and mostly 4 GPU slots, a server 2 CPU slots),
// all there from the start, on two servers a job. A cluster runs them for some decisions; then each
// of the next ones is kept, and what is timed is the policy and its parts on these moments in turn.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "agents/learned/agent.h"

namespace allot {

struct DecisionBench {
  int jobs = 1000;
  double nodes_per_job = 2;
  bool lengths_known = true;
  int users = 0;        // who submit the jobs, in turn; 0: nobody known
  std::string world{};  // whose tuned index a network adds to (agents/learned/agent.h)
};

// {"jobs", "nodes", "features_us", "network_us", "fill_us", "decision_us", ...}; of networks other
// than `index` the whole only, "with_placement_us".
nlohmann::ordered_json MeasureDecisions(const DecisionBench& bench, const Agent& agent);

}  // namespace allot
