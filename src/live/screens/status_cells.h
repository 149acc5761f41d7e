#pragma once
// Cells of tables that `allot status`, `queue` and `top` share.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "live/status/status.h"

namespace allot {

std::string ShareBar(double share, int width);      // "####......"
std::string DoneCell(std::optional<double> share);  // "####......  42 %"; "" if it is unknown
std::string NodesCell(const JobStatus& job);        // "n1:4 n2:2"
std::string_view NodeStateCell(NodeState state);  // "up", "drained", "in maintenance", "down", ...

// How long until a job starts or ends (`times`), with 10, 50 and 90 % probability: "12m 05s",
// "later" than the forecast looks ahead, "runs" if it has started, "?" if nothing is known.
std::array<std::string, 3> TimeCells(const ForecastStatus& forecast,
                                     const std::optional<ForecastTimes>& times, Seconds now);

// ", 960 more to come" behind the number of jobs; "" if the cluster will show no others.
std::string MoreJobsText(const DaemonStatus& status);

// A line each if the runtime does not answer and if its settings are wrong.
std::string TroubleLines(const DaemonStatus& status);

}  // namespace allot
