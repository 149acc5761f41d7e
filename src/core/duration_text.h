#pragma once
// Spans of time as people write them, the same everywhere: options, job files, rules files,
// comments of Slurm's jobs, Python.

#include <optional>
#include <string_view>

namespace allot {

// What ParseDuration reads, for refusals: "must be {}, got '{}'".
inline constexpr std::string_view kDurationForms =
    "a time like 90 (seconds), 250ms, 5m, 1h30m, 2d, 1 week or 1-02:03:04";

// Seconds. "3600" (seconds); parts of falling units ms, s, m (min), h, d, w or their full names,
// added up: "1h30m", "2 days 4h"; or [D-]HH:MM:SS[.5]. Capitals do not matter. A minus may stand
// before a number or a single part. nullopt for anything else.
std::optional<double> ParseDuration(std::string_view text);

}  // namespace allot
