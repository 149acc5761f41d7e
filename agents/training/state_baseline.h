#pragma once
// A baseline that knows the state: the leave-one-out mean of the rollouts of the same arrivals, and
// on top what a rollout's own backlog at that instant explains of its distance to the others,
//
//   A_k(t) = dG_k(t) - w_k . dS_k(t),      d: minus the mean over the other rollouts
//
// with w_k the least squares fit of G by S over all instants of the other rollouts, about their own
// mean: a control variate that no action of rollout k enters, so that the gradient stays without
// bias (Greensmith, Bartlett, Baxter: Variance Reduction Techniques for
// Gradient Estimates, JMLR 2004, section 4, for the idea).

#include <vector>

#include "agents/training/backlog.h"

namespace allot {

// returns[k][t] and backlogs[k][t] by rollout and instant; a rollout that has ended counts as 0.
// Needs at least three rollouts. O(rollouts x instants).
std::vector<std::vector<double>> StateAdvantages(const std::vector<std::vector<double>>& returns,
                                                 const std::vector<std::vector<Backlog>>& backlogs);

}  // namespace allot
