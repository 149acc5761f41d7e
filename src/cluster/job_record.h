#pragma once
// What became of a job: kept by every cluster, simulated or real, and turned into jobs.csv.

#include <cstdint>

#include "core/types.h"

namespace allot {

struct JobRecord {
  JobIndex job = 0;
  Seconds submit = 0;
  Seconds first_start = kNever;
  Seconds finish = kNever;       // kNever: unfinished
  double gpu_seconds = 0;        // allocated GPUs x seconds, restarts included
  std::int32_t preemptions = 0;  // ran -> waits
  std::int32_t restarts = 0;  // changes of allocation after the first launch, each at restart cost
  std::int32_t moves = 0;     // of these: from running to running in the same configuration

  std::int32_t failures = 0;   // of the preemptions: a node of it went down
  std::int32_t evictions = 0;  // of the preemptions: a node of it was called back
  std::int32_t shrinks = 0;    // of the restarts: a node went down and it kept the rest

  std::int32_t launches() const { return first_start == kNever ? 0 : 1 + restarts; }
};

// GPU time that jobs held without getting on, by cause.
struct LostGpuSeconds {
  double redone = 0;       // work since the last checkpoint, when a node failed
  double restarts = 0;     // after changes of allocation and launches
  double checkpoints = 0;  // writing them

  friend bool operator==(const LostGpuSeconds&, const LostGpuSeconds&) = default;
};

// Of services that lend GPUs, while jobs are submitted: GPUs on average, and the share of their
// demand that they had lent.
struct LendingFigures {
  double demand = 0;
  double lent = 0;
  double shortage = 0;

  friend bool operator==(const LendingFigures&, const LendingFigures&) = default;
};

// The jobs that a measurement is of, by position, both included: a steady-state window. Those
// before and behind them arrive, run and compete, but are not counted.
struct TrackedJobs {
  JobIndex first = 0;
  JobIndex last = 0;
};

// State of the cluster from this time to the next point's, for queue-length and utilisation curves.
struct TimelinePoint {
  Seconds time = 0;
  std::int32_t active = 0;  // unfinished jobs
  std::int32_t running = 0;
  std::int32_t gpus_used = 0;
  std::int32_t nodes = 0;  // with capacity; of live clusters 0: not noted
};

}  // namespace allot
