#pragma once
// What a workload looks like, and what reading its trace left out, for people: the terminal's view
// of workload/trace_stats.h.

#include <string>

#include "workload/trace_stats.h"

namespace allot {

// "3 columns: node, reason, comment"; of many the first ones.
std::string IgnoredColumns(const ReadReport& report);

// Aligned text of about 90 columns in UTF-8, without colour. `report` tells what reading left out.
std::string FormatTraceStats(const TraceStats& stats, const ReadReport& report);

}  // namespace allot
