#pragma once
// Rows of a speedup problem (solve/speedup_problem.h) near its largest fitness: sizes by the exact
// knapsack over the jobs' costs as if nodes did not matter (solve/multiple_choice.h), which bounds
// the fitness; then nodes for these sizes; then a local search over rows, one job and pairs of jobs
// at a time, from three starts: these rows, the current ones, and these sizes packed anew; then
// rows of a few jobs, drawn at random from a fixed seed, are rebuilt in another order. It ends
// where it is within 5e-4 of the bound, where nothing gets better, or at a limit of looks at nodes,
// so that it never depends on a clock.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solve/speedup_problem.h"

namespace allot {

struct SpeedupRows {
  std::vector<JobRowGpus> rows;  // by job; empty: it waits
  double fitness = 0;
  double bound = 0;  // no rows have a larger one
};

// Equal problems get equal rows. DataError as CheckSpeedupProblem.
SpeedupRows SearchSpeedupRows(const SpeedupProblem& problem, std::int64_t most_looks = 6'000'000);

}  // namespace allot
