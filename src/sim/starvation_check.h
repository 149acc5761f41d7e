#pragma once
// Ends a simulated run in which jobs wait or run for ever, and says what they ask for and who
// cannot give it. Of one run; SimulatedCluster asks before it lets time pass. O(1), but for the
// error.

#include <cstdint>

#include "sim/changing_nodes.h"
#include "sim/simulated_jobs.h"

namespace allot {

class StarvationCheck {
 public:
  // After a decision, with unfinished jobs. `event`: the next one, whatever is decided; kNever:
  // none. `valid_until`: as ClusterPort::WaitForChange has it. NoProgress, naming the first job,
  // where the policy has left jobs to starve; DataError where no policy could serve any of them.
  void Check(const SimulatedJobs& jobs, const ChangingNodes& nodes, Seconds event,
             Seconds valid_until);

 private:
  std::int64_t idle_decisions_ = 0;  // in a row
};

}  // namespace allot
