#pragma once
// GPU time that jobs hold without getting on, by cause. Of one run; kept where nodes fail or
// checkpoints cost something. Used by SimulatedCluster.

#include <cstddef>
#include <vector>

#include "cluster/job_record.h"
#include "core/types.h"

namespace allot {

class LostTime {
 public:
  explicit LostTime(std::size_t jobs) : runs_(jobs) {}

  // The job holds `gpus` from `now` on and makes progress in the share `progress` of the time from
  // `ready` on. What it held before ends.
  void Begin(JobIndex job, Seconds now, Seconds ready, double gpus, double progress);
  void End(JobIndex job, Seconds now);  // what it holds, if anything
  // So much of what it did has to be done again, on what it holds.
  void Redo(JobIndex job, Seconds trained);

  const LostGpuSeconds& lost() const { return lost_; }

 private:
  struct Run {
    Seconds begun = 0;
    Seconds ready = 0;
    double gpus = 0;  // 0: none
    double progress = 1;
  };

  std::vector<Run> runs_;  // by job
  LostGpuSeconds lost_;
};

}  // namespace allot
