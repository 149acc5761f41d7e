#pragma once
// What a moment of an episode has ahead of it, in a few numbers that the time to come in the system
// is nearly linear in. Rollouts of the same arrivals drift apart: most of what their returns differ
// by at an instant is the backlog they came to it with, which no action from then on can change.
// Knows the true lengths, as only training may.

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
