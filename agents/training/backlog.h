#pragma once
// The backlog at a time of an episode, in a few numbers. The future time in the system is nearly
// linear in them. Rollouts of the same arrivals drift apart: most of the difference of their
// returns at a time comes from their backlogs, which no later action can change. Uses the true
// lengths, which only training knows.

#include <array>
#include <vector>

#include "cluster/observation.h"
#include "sim/scenario.h"

namespace allot {

inline constexpr std::size_t kBacklogNumbers = 5;
// The jobs there; the sum of their times were each alone, in its fastest configuration; the same
// were the cluster one machine at their best efficiency, the shortest first (the least mean JCT of
// a fluid); that machine's time for all of them, times these jobs; and times those yet to come.
using Backlog = std::array<double, kBacklogNumbers>;

class BacklogMeter {
 public:
  explicit BacklogMeter(const Scenario& scenario) : scenario_(scenario) {}
  Backlog Of(const Observation& observation);  // O(rows log rows)

 private:
  const Scenario& scenario_;
  std::vector<double> costs_;
};

}  // namespace allot
