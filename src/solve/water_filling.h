#pragma once
// Max-min shares of GPU types over time, one level after the other, on one floor and on two: the
// water filling of Gavel's policies (Narayanan et al., OSDI'20, section 4.3) over the problem of
// solve/share_problem.h, whose symbols and errors hold here, too.

#include <cstdint>
#include <span>
#include <vector>

#include "solve/share_problem.h"

namespace allot {

// The lexicographically largest of the sorted levels gpus_i theta_i / (weight_i even_i): when the
// least can rise no more, the others do (section 4.3). Objective: the least. `levels`, if given:
// of each job. One solve a level; jobs that cannot rise are found by the prices of needs, which are
// positive in the middle of all optimal solutions exactly for those (strict complementarity; Gavel
// asks a mixed-integer program).
Shares WaterFillingShares(const ShareProblem& problem, std::vector<double>* levels = nullptr);

// Two floors (section 4.3): entities with weights divide the cluster by water filling, and each
// gives its part to its jobs by their weights, or to the first of them that can still rise.
struct ShareEntity {
  double weight = 1;  // > 0
  bool first_come = false;
};
// `entity_of` by job; jobs in order of arrival. Objective: the least theta_i / even_i of all jobs.
Shares HierarchicalShares(const ShareProblem& problem, std::span<const ShareEntity> entities,
                          std::span<const std::int32_t> entity_of);

}  // namespace allot
