#pragma once
// What `allot status`, `queue` and `top` show alike of a daemon's status (live/daemon/daemon.h).

#include <nlohmann/json.hpp>
#include <string>

#include "core/types.h"

namespace allot {

std::string ShareBar(double share, int width);  // "####......"
std::string DoneCell(double share);             // "####......  42 %"; "" where it is unknown

// What its users call a job.
std::string NameCell(const nlohmann::ordered_json& job);
// Of one job: the share of its work that is done, kUnknown where it told no total; "n1:4 n2:2".
double DoneShare(const nlohmann::ordered_json& job);
std::string NodesCell(const nlohmann::ordered_json& job);

// Of a job's forecast (wait_forecast/live_outlook.h): how long until it starts or ends (`what`),
// with the probability `level`.
std::string EtaCell(const nlohmann::ordered_json& eta, const char* what, const char* level,
                    Seconds now);

}  // namespace allot
