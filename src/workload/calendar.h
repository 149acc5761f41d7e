#pragma once
// Calendar times without a time zone, as traces write them: every day has 24 hours.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workload/workload.h"

namespace allot {

// "YYYY-MM-DD HH:MM:SS" or "YYYY-MM-DD" (midnight) -> seconds since 1970-01-01 00:00:00; nullopt
// for anything else, dates that do not exist and years before 1970 included.
std::optional<std::int64_t> ParseCalendar(std::string_view text);
// "YYYY-MM-DD HH:MM:SS+08:00" -> the same for the local time, and the zone's seconds from UTC.
struct ZonedTime {
  std::int64_t local;
  int zone;
};
std::optional<ZonedTime> ParseZonedCalendar(std::string_view text);
std::string FormatCalendar(std::int64_t seconds);

// A point in time as a user writes it -> seconds from the workload's origin: a calendar time as
// above (may lie before the origin: negative), or a span after the origin as ParseDuration takes
// it, "3600" (seconds), "36h", "14d". UsageError for anything else, and for a calendar time when
// the workload has no calendar origin.
Seconds ParseWhen(const Workload& workload, std::string_view text);

}  // namespace allot
