#pragma once
// Pollux's own search for the rows of a speedup problem: NSGA-II (Deb et al., "A fast and elitist
// multiobjective genetic algorithm: NSGA-II", 2002) over integer matrices of jobs and nodes, with
// two objectives, fitness and utility; the second only keeps candidates different. Operators and
// numbers as in Pollux's artifact: binary tournament, single-point crossover over jobs, mutation
// towards the current rows, towards 0, and to more GPUs where there is room, repair to capacities
// and to interference avoidance.

#include <span>
#include <vector>

#include "core/rng.h"
#include "solve/speedup_problem.h"

namespace allot {

struct GeneticOptions {
  std::int32_t population = 100;
  std::int32_t generations = 100;
};

using RowSet = std::vector<JobRowGpus>;  // by job

struct GeneticAnswer {
  RowSet rows;  // the fittest
  double fitness = 0;
  std::vector<RowSet> front;  // nobody beats them in both objectives: where the next search begins
};

// `starts`: the last front, by this problem's jobs; empty: the current rows. Whatever breaks a rule
// is repaired. Equal problems, starts and random numbers get equal rows. O(generations x population
// x jobs x nodes). DataError as CheckSpeedupProblem.
GeneticAnswer SearchSpeedupRowsGenetically(const SpeedupProblem& problem,
                                           std::span<const RowSet> starts, Rng* rng,
                                           const GeneticOptions& options = {});

}  // namespace allot
