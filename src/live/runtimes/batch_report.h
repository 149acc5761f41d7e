#pragma once
// The report of a job whose batch follows its workers, and the daemon's order. Part of JobProgress
// and of Runtime; docs/formats/worker_protocol.md has the messages.

#include <cstdint>

#include "core/types.h"
#include "perf/goodput_model.h"

namespace allot {

// The batch of each worker in a step: `accumulation` + 1 passes of `local` samples.
struct WorkerBatchOrder {
  GpuCount workers = 0;  // the number of workers that it is for; 0 means no order
  std::int64_t local = 0;
  std::int32_t accumulation = 0;
  friend bool operator==(const WorkerBatchOrder&, const WorkerBatchOrder&) = default;
};

// In samples. `initial` is 0 for a job whose batch does not follow its workers.
struct BatchReport {
  std::int64_t initial = 0;
  std::int64_t most = 0;
  std::int64_t least_local = 1;
  std::int64_t most_local = 0;
  WorkerBatchOrder present;      // the present batch
  WorkerBatchOrder timed;        // the batch of the following seconds, without accumulation
  Seconds gradient = kUnknown;   // one pass
  Seconds iteration = kUnknown;  // one pass with synchronisation and update

  BatchLimits limits() const {
    return {static_cast<double>(initial), static_cast<double>(most),
            static_cast<double>(least_local), static_cast<double>(most_local)};
  }
};

}  // namespace allot
