#pragma once
// How long the jobs of Pollux's and Sia's workloads take as they were requested, alone:
// traces/pollux_run_times.csv.

#include <optional>
#include <string>

#include "core/types.h"

namespace allot {

inline constexpr long long kLargestPolluxBatch = 1'000'000;

std::optional<Seconds> PolluxRunTime(const std::string& application, GpuCount gpus,
                                     long long batch);

}  // namespace allot
