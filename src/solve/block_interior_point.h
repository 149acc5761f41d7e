#pragma once
// The interior point method behind block_problem.h: Mehrotra's predictor-corrector (SIAM J.
// Optimization 2, 1992) from an infeasible start, for linear problems of blocks, and for the convex
// one in which the level stands in the denominator of what is asked. Each block is eliminated by
// hand: what remains is a system of (types + 1) unknowns. All determinants of blocks are sums of
// positive terms; computed by differences they lose all digits where types are equally fast.

#include <span>

#include "solve/block_problem.h"

namespace allot::internal {

enum class BlockGoal { kLevel, kGain, kFinish };

struct InteriorAnswer {
  bool converged = false;  // residuals and relative gap below kBlockTolerance
  double error = 0;        // the largest of them
  double level = 0;        // of the iterate, not of the shares
  double unit = 1;         // of a level: about what an even division reaches
  // Not yet within the constraints to the last digit; empty where no iterate was a number.
  std::vector<double> share;
  std::vector<double> type_price;
  std::vector<double> need_price;
  int iterations = 0;
};

// The most types that it has code for.
inline constexpr std::size_t kMostInteriorTypes = 8;

// `problem` must have been checked, and have at most kMostInteriorTypes. `goals`: of kFinish.
InteriorAnswer SolveInterior(const BlockProblem& problem, BlockGoal goal,
                             std::span<const FinishGoal> goals);

}  // namespace allot::internal
