#pragma once
// Calendar times without a time zone, as traces and schedulers write them: every day has 24 hours.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

// Whether the text begins as a day does, "2026-11-01", though it may be none that exists.
bool BeginsLikeDate(std::string_view text);

}  // namespace allot
