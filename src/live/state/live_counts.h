#pragma once
// What a daemon has counted since it began, for metrics and the status. Written by LiveCluster,
// RuntimeReader and WorkerControl.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "core/types.h"
#include "live/runtimes/runtime_job.h"

namespace allot {

struct LiveCounts {
  std::int64_t polls = 0;
  std::int64_t failed_polls = 0;              // the runtime could not be asked
  std::int64_t refused_writes = 0;            // RuntimeSnapshot
  double last_poll_at = kUnknown;             // Unix time; the runtime answered
  std::int64_t corrected_for_guarantees = 0;  // decisions
  std::int64_t corrected_for_fair_shares = 0;
  std::int64_t gives = 0;  // decided launches, resizes and moves
  std::int64_t takes = 0;  // preemptions decided
  std::int64_t workers_started = 0;
  std::int64_t workers_failed = 0;
  std::int64_t workers_stalled = 0;  // replaced, as their jobs did not go on
  std::int64_t nodes_avoided = 0;
  std::int64_t starts_withdrawn = 0;  // the cluster did not begin with them
  std::int64_t epochs = 0;            // announced
  std::int64_t resizes = 0;           // of running jobs that came to train
  double resize_seconds = 0;
  Seconds last_resize = 0;
  static constexpr std::array<double, 9> kResizeEnds = {0.25, 0.5, 1, 2, 5, 10, 30, 60, 120};
  std::array<std::int64_t, kResizeEnds.size()> resizes_within{};  // of at most so many seconds
  std::map<JobState, std::int64_t> ended;                         // jobs

  void AddEnd(JobState as) { ++ended[as]; }
  std::int64_t EndedAs(JobState as) const {
    const auto found = ended.find(as);
    return found == ended.end() ? 0 : found->second;
  }
  void AddResize(Seconds took) {
    ++resizes;
    resize_seconds += took;
    last_resize = took;
    for (std::size_t i = 0; i < kResizeEnds.size(); ++i) {
      resizes_within[i] += took <= kResizeEnds[i] ? 1 : 0;
    }
  }
};

}  // namespace allot
