#pragma once
// Cuts episodes out of a long trace: the jobs of a time window, thinned at random until they offer
// a cluster a given load. Called by the episode sources and by the commands that take
// --from/--to/--load.

#include <cstdint>

#include "workload/workload.h"

namespace allot {

struct SampleOptions {
  Seconds from = 0;          // the window [from, to), from the workload's origin
  Seconds to = kNever;       // kNever: to the end, the last job included
  double gpus_capacity = 0;  // of the cluster that the load refers to
  double load = 0;           // wanted offered load; 0 = keep every job
  std::uint64_t seed = 0;
  int max_gpus = 0;  // jobs that request more are left out; 0 = no limit
  int part = 0;      // parts 0, 1, ... of one seed are disjoint
};

struct SampleReport {
  std::int64_t in_window = 0;
  std::int64_t too_large = 0;  // of these, left out by max_gpus
  std::int64_t kept = 0;
  double keep_probability = 1;  // of the jobs that are not too large
  double window_load = 0;       // offered load of all jobs that are not too large
  double offered_load =
      0;  // of the kept ones; scatters around the wanted load. NaN without capacity
};

// Offered load counts the GPU time that fits into the window, as if every job started when
// submitted:
//   sum of gpus x min(duration, end - submit) / (capacity x (end - from)).
// Jobs that had not ended when the record did (Job::ended) and were submitted before the window
// hold GPUs in it, or wait: they are submitted when it begins, those that ran first, and have their
// time before it behind them. Other jobs of before are not in the window.
//
// A job is kept when its uniform number u, drawn by (seed, hash of its id), lies in [part x p,
// (part + 1) x p), p = load / window load: a job is in or out whatever else the trace holds. Submit
// times and deadlines are shifted so that the window starts at 0, and the origin with them.
// UsageError for an empty window; DataError when the window offers less than the wanted load,
// naming both, and when no job is kept.
Workload Sample(const Workload& workload, const SampleOptions& options,
                SampleReport* report = nullptr);
// The same of a workload that nobody needs any more: its jobs are moved, not copied.
Workload Sample(Workload&& workload, const SampleOptions& options, SampleReport* report = nullptr);

// The same measure over the whole workload, from its first to its last submission, on `gpus` GPUs.
// With gpus = 1: the GPUs that it would keep busy on average.
double OfferedLoad(const Workload& workload, double gpus);

}  // namespace allot
