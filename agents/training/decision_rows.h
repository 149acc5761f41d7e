#pragma once
// A logged decision, seen row by row of its observation: what imitation compares choices with.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sched/policy.h"

namespace allot {

// configurations[r]: what the allocation gives the job of row r, -1 for nothing. O(entries log
// rows).
inline void ConfigurationsByRow(const Observation& o, const Allocation& allocation,
                                std::vector<std::int32_t>* configurations) {
  configurations->assign(o.job.size(), -1);
  for (const Allocation::Entry& entry : allocation.entries()) {
    // Rows ascend by job.
    const auto row = std::lower_bound(o.job.begin(), o.job.end(), entry.job);
    (*configurations)[static_cast<std::size_t>(row - o.job.begin())] = entry.configuration;
  }
}

}  // namespace allot
