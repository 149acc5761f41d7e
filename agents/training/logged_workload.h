#pragma once
// The jobs of a logged run as a workload to train on: when they came, and how long they really
// took. Read by 'allot train --from-log'.
//
// A job's run time is what its allocations did by its end: the rates of the configurations it held,
// by its table, times the seconds it held them, less a restart at every change after the first
// launch; then divided by the rate at its requested size. So measured speeds count wherever they
// differ from the table: a job that took longer than its work at the rates of its table becomes a
// longer job.

#include <span>

#include "sched/recorded_policy.h"
#include "sim/scenario.h"

namespace allot {

struct MeasuredWorkload {
  Workload workload;
  std::size_t unfinished = 0;  // jobs that had not ended: left out
};

// `finish` by job index, kNever or unknown where a job had not ended; `where` opens messages.
// DataError when no job has ended, and for a job that has ended but that no decision gave anything,
// naming it.
MeasuredWorkload MeasureWorkload(const Scenario& scenario, const DecisionLog& log,
                                 std::span<const Seconds> finish, const std::string& where);

// The same of a live log, whose run times were measured already: the jobs that ended.
MeasuredWorkload MeasuredJobs(const Scenario& scenario, std::span<const Seconds> finish,
                              const std::string& where);

}  // namespace allot
