#pragma once
// Sentences of a what-if on its trace: the influence of time limits, of jobs that had not ended,
// and of records that are left out. Used by whatif.cc.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "experiment/world_spec.h"
#include "workload/time_limits.h"
#include "workload/trace_reader.h"

namespace allot {

// "" if all jobs have a time limit and keep it.
std::string TimeLimitNote(const TimeLimits& limits, const std::string& length_estimates);

std::int64_t CountOutcome(const Workload& workload, Outcome outcome);

// On GPUs that are allocated at the first submission, and after the record's end.
std::string RecordEdgesNote(const Workload& workload);

// The present run has all jobs at their requested sizes; this note counts those that keep it in
// every figure of the page.
std::string FixedSizesNote(const WorldSpec& spec, const Workload& trace);

// The number of jobs that were dropped for one of these reasons.
DropCount DropsAs(std::initializer_list<std::string_view> reasons, const ReadReport& report);

}  // namespace allot
