#pragma once
// What had become of a job, as text: in the allot CSV and in trace statistics.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/job.h"

namespace allot {

// Indexed by Outcome: unreported, passed, failed, killed, running, pending.
const std::vector<std::string>& OutcomeNames();
const std::string& OutcomeName(Outcome outcome);
std::optional<Outcome> ParseOutcome(std::string_view name);

// Philly's words: Pass, Failed, Killed.
std::optional<Outcome> ParsePhillyStatus(std::string_view status);

}  // namespace allot
