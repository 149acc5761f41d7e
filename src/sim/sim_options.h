#pragma once
// What a Scenario is made with beside jobs and nodes. Profiles set it (sim/profile.h).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/types.h"
#include "rules/operator_rules.h"
#include "sim/length_estimates.h"
#include "sim/node_events.h"
#include "sim/training_rules.h"

namespace allot {

// The rules of the simulated world: one engine, every peer's semantics is a set of these (a
// profile).
struct SimOptions {
  Seconds interval = 300;     // between scheduled decisions, > 0
  Seconds restart_cost = 30;  // progress lost by every change of allocation after the first launch
  Seconds launch_cost = 0;    // and by every launch of a job that holds nothing, the first included
  bool decide_on_events =
      false;  // also decide when a job arrives or ends, not only on the interval
  bool charge_whole_intervals =
      false;  // a job ends, and frees its GPUs, at the first scheduled instant after its exact end
  // Rounds of `interval` seconds, in which a job does whole units of work: as many as fit, or what
  // is left. The round is over when the last of its jobs is done with its part; decisions are then,
  // and, while nothing runs, at arrivals. Jobs on the same GPUs are both done when the later one
  // is. Less than a unit for each GPU is a failure: nothing is done. Without processes and events
  // of nodes.
  bool whole_rounds = false;
  std::int32_t most_failures = 0;  // failed rounds in a row that drop a job; 0: none
  bool busy_gaps = false;          // GPUs of the first round after nothing ran count as busy since
                                   // the end of the round before
  TrainingRules training{};        // of jobs that train applications
  double speedup = 1;  // of every job's progress over its rate, > 0; hidden from policies
  std::string progress = "constant";  // how rates change while jobs run (sim/job_process.h)
  std::string beliefs = "exact";      // what policies are shown of the rates (sim/belief.h)
  LengthEstimates lengths{};
  std::vector<NodeEvent> node_events{};  // known ones, ascending by time
  std::string failures{};                // and random ones (sim/fault_law.h); "" for none
  NodeLoss node_loss = NodeLoss::kRequeue;
  std::string checkpoints = "continuous";  // that jobs write (sim/checkpoint_rule.h)
  std::string services{};       // that share the cluster with jobs (sim/service_load.h); "": none
  std::string lend = "margin";  // what these lend (sim/lender.h)
  Seconds recall_notice = 600;  // so long before a lent node goes its jobs know
  std::string autoscale{};  // how many nodes the cluster has (sim/autoscaler.h); "": all, always
  double node_price = 0;    // of a node for an hour, in any currency; 0: cost is not counted
  std::shared_ptr<const OperatorRules> rules{};  // null: none
  std::uint64_t seed = 0;                        // of the length estimates, failures and beliefs
};

}  // namespace allot
