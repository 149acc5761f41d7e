#pragma once
// Simulates ahead what a policy can know: the unfinished jobs of one observation with their assumed
// remaining work, on the same cluster, without further arrivals. Look-ahead policies
// (agents/lookahead) let candidates decide in it. It reads the observation alone, so that
// look-ahead policies decide alike on live and simulated clusters.

#include "cluster/observation.h"
#include "sched/policy.h"
#include "sim/scenario.h"

namespace allot {

// The observation with its rows by job, and these numbered from 0. A partner that is no row is
// gone.
Observation NumberedByJob(const Observation& observation);

class LookaheadSimulation {
 public:
  // Rows are taken in the order of their jobs, whatever that of the observation. `rules`: how the
  // cluster is believed to behave; the interval and the restart costs are the observation's.
  LookaheadSimulation(const Observation& observation, SimOptions rules);

  struct Limits {
    Seconds horizon = kNever;  // how far ahead is simulated
    Seconds step = 0;          // time between decisions without a completion
    double give_up = kNever;   // a sum from here on counts as infinite
  };
  // Sum over the known jobs of the seconds from now to their ends under `policy`, which starts
  // afresh. What is unfinished at the horizon counts with its bound of sim/relaxation.h.
  double CompletionSum(Policy& policy, const Limits& limits) const;

  const Scenario& scenario() const { return scenario_; }
  const Observation& start() const { return start_; }  // jobs numbered from 0

 private:
  Observation start_;
  Scenario scenario_;
};

}  // namespace allot
