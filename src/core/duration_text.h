#pragma once
// Spans of time as people write them: "3600" (seconds), "90m", "1h30m", "2d 4h", "250ms".

#include <optional>
#include <string_view>

namespace allot {

// Seconds; parts of falling units s, m (min), h, d, w, added up; a number alone is in seconds. A
// minus may stand before a single part. nullopt for anything else.
std::optional<double> ParseDuration(std::string_view text);

}  // namespace allot
