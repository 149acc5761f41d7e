#pragma once
// What a daemon has counted since it began, for metrics and the status. Written by LiveCluster,
// RuntimeReader and WorkerControl.

#include <cstdint>

#include "core/types.h"

namespace allot {

struct LiveCounts {
  std::int64_t polls = 0;
  std::int64_t failed_polls = 0;  // the runtime could not be asked
  std::int64_t gives = 0;         // launches, resizes and moves decided
  std::int64_t takes = 0;         // preemptions decided
  std::int64_t workers_started = 0;
  std::int64_t workers_failed = 0;
  std::int64_t starts_withdrawn = 0;  // the cluster did not begin with them
  std::int64_t epochs = 0;            // announced
  std::int64_t resizes = 0;           // of running jobs that came to train
  double resize_seconds = 0;
  Seconds last_resize = 0;
};

}  // namespace allot
