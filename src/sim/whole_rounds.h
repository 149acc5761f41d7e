#pragma once
// Rounds of a simulated cluster in which jobs do whole units of work (SimOptions::whole_rounds):
// what each job does in one, when the round ends, who fails, and how long each GPU works. Of one
// run; used by SimulatedCluster, which plans each round, begins it, and lets the time pass.

#include <cstdint>
#include <vector>

#include "sim/simulated_jobs.h"

namespace allot {

class WholeRounds {
 public:
  explicit WholeRounds(const Scenario& scenario);

  // Plans the round that begins now, by what runs where, and sets when jobs finish. O(slots).
  void Plan(SimulatedJobs* jobs);
  bool anyone_works() const;  // in the planned round
  double WorkIn(std::size_t slot) const { return parts_[slot].work; }
  // Counts the planned round's failures and the time that GPUs work. Who has failed too often goes
  // at the end of the round, as it is. Returns when the round ends: with the last job's part.
  Seconds Begin(SimulatedJobs* jobs);
  // Jobs that have gone since the last call, which are not finished.
  std::vector<JobIndex> TakeDropped();
  // By GPU, nodes in order: how long it worked.
  const std::vector<Seconds>& busy_seconds() const { return busy_seconds_; }

 private:
  struct Part {  // of a round, of a job
    double work = 0;
    Seconds end = 0;
    bool fails = false;  // then it does no work
  };

  void CountFailures(Seconds end, SimulatedJobs* jobs);
  void CountBusyGpus(const SimulatedJobs& jobs);

  const SimOptions& options_;
  std::vector<Part> parts_;             // by slot, of the planned round
  Seconds last_end_ = kNever;           // of the last round in which something ran
  std::vector<std::int32_t> failures_;  // by job: its failed rounds in a row
  std::vector<JobIndex> dropped_;
  std::vector<std::size_t> first_gpu_;  // by node: its place in busy_seconds_
  std::vector<Seconds> busy_seconds_;
};

}  // namespace allot
