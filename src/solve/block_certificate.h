#pragma once
// How far from the best an answer of block_problem.h can be at most, by weak duality: any prices
// >= 0 of types and needs bound the best value, whatever rounding did to the method that found
// them.

#include <span>

#include "solve/block_problem.h"

namespace allot::internal {

// No level, gain or ratio is better than these, for prices of any scale (they are scaled here so
// that the bound is as tight as that allows). Infinite or NaN for prices that say nothing. O(blocks
// types).
double LevelBound(const BlockProblem& problem, BlockAnswer* answer);
double GainBound(const BlockProblem& problem, const BlockAnswer& answer);
// At the answer's ratio: no smaller one holds.
double FinishBound(const BlockProblem& problem, std::span<const FinishGoal> goals,
                   BlockAnswer* answer);

}  // namespace allot::internal
