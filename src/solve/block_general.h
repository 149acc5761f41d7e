#pragma once
// The problems of block_problem.h as linear programs of no structure (general_lp.h): what the
// interior point method does not solve, and its check.

#include "solve/block_problem.h"

namespace allot::internal {

// As MaximiseLevel and MaximiseGain. `problem` must have been checked. O(iterations x entries);
// more than a thousand blocks take a second and longer.
BlockAnswer LevelByGeneralLp(const BlockProblem& problem);
BlockAnswer GainByGeneralLp(const BlockProblem& problem);

// Cuts what rounding left below 0 or above a capacity or a time off the shares: each at most 1e-7
// of them after a solver.
void CutToCapacities(const BlockProblem& problem, std::vector<double>* share);

// theta of every block under these shares.
std::vector<double> RatesUnder(const BlockProblem& problem, const std::vector<double>& share);

}  // namespace allot::internal
