#pragma once
// What is known of a trace at a date: the runs of the jobs that came before.

#include <string>
#include <vector>

#include "workload/workload.h"

namespace allot {

struct PastRun {
  GpuCount gpus;
  std::int32_t user;  // as in the trace
  std::int32_t group;
  Seconds seconds;  // a job that runs at the date counts as if it ended then
};

// Of jobs submitted before `until`, in their order.
std::vector<PastRun> PastRuns(const Workload& trace, Seconds until);

// The history "trace.csv@2017-11-13": the trace, and the date as seconds of it (kNever without @).
struct History {
  Workload trace;
  Seconds until;
};
History ReadHistory(const std::string& history);

}  // namespace allot
