#pragma once
// Sentences of a what-if about its trace: what the figures owe to time limits, to jobs that had not
// ended and to records that are left out. For whatif.cc.

#include <cstdint>
#include <string>

#include "workload/time_limits.h"
#include "workload/trace_reader.h"

namespace allot {

// "" where all jobs have a time limit and keep it.
std::string TimeLimitNote(const TimeLimits& limits, const std::string& length_estimates);

std::int64_t CountOutcome(const Workload& workload, Outcome outcome);

// What holds GPUs at the first submission, and after the record's end.
std::string RecordEdgesNote(const Workload& workload);

// Those of most GPU time first; "" where nothing is left out.
std::string LeftOutNote(const ReadReport& report);

}  // namespace allot
