#pragma once
// Job arrays. Slurm has one record for all waiting tasks of an array; allot places each task as a
// job of its own, which Slurm makes of it as soon as something of it is changed. So a few tasks of
// each array, those that may run next, are split off ahead. Pure, for the Slurm runtime.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "live/runtimes/slurm/slurm_client.h"

namespace allot {

inline constexpr std::size_t kTasksAhead = 32;  // of an array, that policies see waiting

// For each array (by its number) whose tasks are to become jobs of their own now: "10_[0,1,2]". As
// many as it may run at a time (--array=0-99%4), at most kTasksAhead; never all of them, as the
// last one left is a job of its own by itself. `arrays`: of `jobs`.
std::map<std::uint32_t, std::string> TasksToSplit(const SlurmJobs& jobs, const SlurmJobs& arrays);

// Numbers of the tasks that wait in `queue` and may not begin yet, as others of their arrays that
// have begun, or come before them, are as many as may run at a time.
std::set<std::uint32_t> TasksBeyondLimit(const SlurmJobs& jobs, const std::string& queue);

}  // namespace allot
