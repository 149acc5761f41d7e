#pragma once
// The waiting jobs of a daemon, as `allot queue` shows them: since when, for what, why, and when
// they may start.

#include <string>
#include <vector>

#include "live/status/status.h"

namespace allot {

// The jobs without GPUs, in order of submission.
std::vector<JobStatus> WaitingJobs(const DaemonStatus& status);

// Lines that end with a newline. Reasons that are longer than a column come below the table.
std::string QueueText(const DaemonStatus& status);

}  // namespace allot
