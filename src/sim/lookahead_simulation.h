#pragma once
// What is ahead as far as a policy can know it: the unfinished jobs of one observation, with the
// work they are reckoned to have left, on the same cluster, and nobody else to come. Look-ahead
// policies (agents/lookahead) let candidates play it out. Reads the observation alone, so that a
// look-ahead decides on a live cluster as in a simulation.

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
    Seconds horizon = kNever;  // how far ahead a policy is followed
    Seconds step = 0;          // it is asked after completions, else no sooner than this
    double give_up = kNever;   // a sum from here on need not be told apart from infinity
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
