#pragma once
// Measures the CPU time of one decision of the learned index policy by number of jobs, in all and
// by part: features with length model, network, fill, placement. One thread.
//
// The jobs are of DL2's eight types (a worker 2 CPU and mostly 4 GPU slots, a server 2 CPU slots),
// all submitted at the start, on two servers per job. A cluster runs them for some decisions; the
// observations of the next ones are stored, and the policy and its parts are timed on them in turn.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "agents/learned/agent.h"

namespace allot {

struct DecisionBench {
  int jobs = 1000;
  double nodes_per_job = 2;
  bool lengths_known = true;
  int users = 0;        // number of users who submit jobs in turn; 0: users are unknown
  std::string world{};  // the world whose tuned index a network adds to (agents/learned/agent.h)
};

// {"jobs", "nodes", "features_us", "network_us", "fill_us", "decision_us", ...}; for networks other
// than `index` only the total, "with_placement_us".
nlohmann::ordered_json MeasureDecisions(const DecisionBench& bench, const Agent& agent);

}  // namespace allot
