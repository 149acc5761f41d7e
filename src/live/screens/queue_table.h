#pragma once
// What waits, as `allot queue` shows it: since when, for what, why, and when it may start.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace allot {

// Of a daemon's status (live/daemon/daemon.h): the jobs without GPUs, in order of submission.
nlohmann::ordered_json WaitingJobs(const nlohmann::ordered_json& status);

// Lines that end with a newline. Reasons that are longer than a column come below the table.
std::string QueueText(const nlohmann::ordered_json& status);

}  // namespace allot
