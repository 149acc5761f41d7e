#pragma once
// What a job whose batch follows its workers says of its batch, and what it is told. Part of
// JobProgress and of Runtime (live/runtimes/runtime.h); the messages:
// docs/formats/worker_protocol.md.

#include <cstdint>

#include "core/types.h"
#include "perf/goodput_model.h"

namespace allot {

// What each worker of a job computes in a step: `accumulation` + 1 passes of `local` samples.
struct WorkerBatchOrder {
  GpuCount workers = 0;  // that it is for; 0: nothing is said
  std::int64_t local = 0;
  std::int32_t accumulation = 0;
  friend bool operator==(const WorkerBatchOrder&, const WorkerBatchOrder&) = default;
};

// Of a job whose batch follows its workers, in samples; initial 0: of another one.
struct BatchReport {
  std::int64_t initial = 0;
  std::int64_t most = 0;
  std::int64_t least_local = 1;
  std::int64_t most_local = 0;
  WorkerBatchOrder present;      // that it trains with
  WorkerBatchOrder timed;        // without accumulation, that the seconds are of
  Seconds gradient = kUnknown;   // of one pass
  Seconds iteration = kUnknown;  // of a pass with synchronisation and update

  BatchLimits limits() const {
    return {static_cast<double>(initial), static_cast<double>(most),
            static_cast<double>(least_local), static_cast<double>(most_local)};
  }
};

}  // namespace allot
