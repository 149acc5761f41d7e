#pragma once
// What `allot status` and `allot top` both show of a daemon's status (live/daemon.h).

#include <nlohmann/json.hpp>
#include <string>

namespace allot {

std::string ShareBar(double share, int width);  // "####......"
std::string DoneCell(double share);             // "####......  42 %"; "" where it is unknown

// What its users call a job.
std::string NameCell(const nlohmann::ordered_json& job);
// Of one job: the share of its work that is done, kUnknown where it told no total; "n1:4 n2:2".
double DoneShare(const nlohmann::ordered_json& job);
std::string NodesCell(const nlohmann::ordered_json& job);

}  // namespace allot
