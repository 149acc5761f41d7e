#pragma once
// What every job must satisfy, whichever reader or generator made it. Readers ask with the place of
// the record at hand; Workload::Finish asks again for workloads built in code.

#include <optional>
#include <string>

#include "workload/job.h"

namespace allot {

inline constexpr GpuCount kMostGpus = 1'000'000;  // of one job: beyond it a trace is surely broken
inline constexpr Seconds kLongestTime = 1e11;     // about 3,000 years, likewise

inline constexpr float kMostMemoryGb = 1e9F;
inline constexpr float kMostCpus = 1e8F;

struct BrokenRule {
  std::string rule;  // "duration must be > 0 s"
  std::string got;   // "-3"
};

std::optional<BrokenRule> FindBrokenRule(const Job& job);

}  // namespace allot
