#pragma once
// The Philly excerpt compiled into the program (traces/README.md); ReadTrace("embedded") reads it.

#include <string_view>

namespace allot {

std::string_view EmbeddedTrace();  // gzip bytes of traces/philly-2017-4weeks.csv.gz

inline constexpr std::string_view kEmbeddedTraceName = "philly-2017-4weeks";

}  // namespace allot
