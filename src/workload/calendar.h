#pragma once
// Points in time that users write, on the calendar of a workload.

#include <string_view>

#include "core/calendar.h"
#include "workload/workload.h"

namespace allot {

// A point in time as a user writes it -> seconds from the workload's origin: a calendar time as
// ParseCalendar takes it (may lie before the origin: negative), or a span after the origin as
// ParseDuration takes it, "3600" (seconds), "36h", "14d". UsageError for anything else, and for a
// calendar time when the workload has no calendar origin.
Seconds ParseWhen(const Workload& workload, std::string_view text);

}  // namespace allot
