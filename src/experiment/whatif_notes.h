#pragma once
// Sentences of a what-if about its trace: what the figures owe to time limits, to jobs that had not
// ended and to records that are left out. For whatif.cc.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "experiment/world_spec.h"
#include "workload/time_limits.h"
#include "workload/trace_reader.h"

namespace allot {

// "" where all jobs have a time limit and keep it.
std::string TimeLimitNote(const TimeLimits& limits, const std::string& length_estimates);

std::int64_t CountOutcome(const Workload& workload, Outcome outcome);

// What holds GPUs at the first submission, and after the record's end.
std::string RecordEdgesNote(const Workload& workload);

// The present is of jobs at the sizes that they ask for; this counts those that stay there in every
// figure of the page.
std::string FixedSizesNote(const WorldSpec& spec, const Workload& trace);

// All that were dropped for one of these reasons.
DropCount DropsAs(std::initializer_list<std::string_view> reasons, const ReadReport& report);

}  // namespace allot
