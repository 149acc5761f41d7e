#pragma once
// What is known of a trace at a date: the runs of the jobs that came before. A value: reading one
// from a file is in workload/history_file.h.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "workload/workload.h"

namespace allot {

struct History {
  Workload trace;
  Seconds until = kNever;  // the date, in seconds of the trace: jobs submitted later are not known
};

struct PastRun {
  GpuCount gpus;
  std::int32_t user;  // as in the trace
  std::int32_t group;
  Seconds seconds;  // a job that runs at the date counts as if it ended then
  Seconds end;      // when it ended, if it began at once
};

// Of the jobs submitted before `until`, in their order, without those that only waited. O(jobs).
std::vector<PastRun> PastRuns(const Workload& trace, Seconds until);

// The files that "TRACE@DATE" or "TRACE" names.
std::vector<std::string> FilesOfHistory(const std::string& history);

// What a parameter "history" loads (core/params.h); null when the parameter is empty.
std::shared_ptr<const History> HistoryOf(const Params& params, std::string_view name = "history");

}  // namespace allot
