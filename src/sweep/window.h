#pragma once
// Steady-state windows: which jobs of a workload a measurement is of.

#include <map>
#include <optional>
#include <string>

#include "cluster/job_record.h"
#include "workload/workload.h"

namespace allot {

// `window` holds at most one of
//   window-jobs  "3000..4000"  by position, counted from 0, both included
//   window-time  "7d..14d"     submitted at or after the first and before the second time
//   warm-up      "2d"          submitted so long after the first job or later
// nullopt for none of them: all jobs are measured. UsageError when malformed or when the workload
// has no such job.
std::optional<TrackedJobs> ResolveWindow(const std::map<std::string, std::string>& window,
                                         const Workload& workload);

}  // namespace allot
