#pragma once
// Numbers for people: in tables and the report, never in files that a program reads. Unknown is
// "-".

#include <cstdint>
#include <string>
#include <vector>

#include "core/types.h"
#include "metrics/paired.h"

namespace allot {

std::string HumanDuration(Seconds seconds);  // "38.1 s", "12m 05s", "2h 41m", "3d 04h"
std::string HumanMicroseconds(double us);    // "8.2 µs", "350 µs", "1.25 ms", "2.10 s"
std::string HumanShare(double share);        // 0.8731 -> "87.3 %"
std::string HumanFixed(double value, int decimals);
std::string HumanHours(double hours);  // "0.02", "0.5", "97.1", "12 345": never 0 for a little
std::string HumanRatio(
    const PairedRatio& ratio);               // "0.712 [0.663, 0.761]", without interval "0.712"
std::string HumanCount(std::int64_t count);  // "12 345"

// "a", "a and b", "a, b and c".
std::string Enumerate(const std::vector<std::string>& parts);

}  // namespace allot
