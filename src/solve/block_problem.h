#pragma once
// Linear problems of a few shared capacities and many small blocks: how jobs share GPU types over
// time. A block is a job, or a class of equal jobs. Block i spends a fraction x_ig >= 0 of its time
// on type g, all together at most 1, and has then the rate theta_i = sum_g rate_ig x_ig:
//
//   sum_i use_i x_ig <= capacity_g   for every type        (prices of types)
//   sum_g x_ig       <= 1            for every block
//   theta_i          >= what the problem asks of it        (prices of needs)
//
// The three problems below differ in what is asked and in what is best (Narayanan et al., Gavel,
// OSDI'20, sections 3 and 4). They are solved by an interior point method that eliminates the
// blocks (block_interior_point.h); what that does not solve goes to a general linear solver
// (general_lp.h). The answer does not depend on chance or threads; it depends on the order of
// blocks in its last digits, so callers who need equal answers bring them in one order.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace allot {

struct BlockProblem {
  struct Block {
    double use = 1;    // capacity that the whole block takes while it runs: GPUs x jobs
    double need = 0;   // rate that it must have, in the unit of its rates
    double slope = 0;  // and how much more for each unit of the level; 0: not raised
  };

  std::vector<double> capacity;  // by type; 0: nobody runs there
  std::vector<Block> blocks;
  std::vector<double> rate;  // [block][type], work per second of one job; 0: not a variable
  std::vector<double> gain;  // [block][type], what the whole block adds to the gain; empty: none

  std::size_t types() const { return capacity.size(); }
  std::span<const double> rates(std::size_t block) const {
    return std::span(rate).subspan(block * types(), types());
  }
};

struct BlockAnswer {
  bool feasible = true;       // false: the needs cannot hold together, and the rest is empty
  std::vector<double> share;  // [block][type]: within all capacities and times
  double value = 0;           // of these shares: the level, the gain, or the ratio
  // Dual values, all >= 0, at the optimum: of one GPU more on a type, and of one unit of need less
  // of a block.
  std::vector<double> type_price;
  std::vector<double> need_price;
  std::vector<double> slack;  // of a block: theta - what is asked, in the unit of its rates
  int iterations = 0;         // of the interior point
  bool general = false;       // the general solver was asked

  double level() const { return value; }
};

// What is asked of a block where its finish is compared with another way to run it:
// (elapsed + work / theta) / due <= ratio, all in seconds but the work.
struct FinishGoal {
  double work = 0;     // left, in the unit of rates x seconds, > 0
  double elapsed = 0;  // >= 0
  double due = 0;      // > 0
};

// All three: relative error of `value` at most 1e-8 (kBlockTolerance), needs kept to 1e-8 relative.
// O(blocks types^2) an iteration, 10 to 60 iterations; the general solver: as a simplex method.
// DataError naming rule, both values, and the place (block, type) for numbers that are not finite,
// for a negative rate, need, slope or capacity, for a use that is not positive, and for a block of
// which something is asked but which no type can run.
inline constexpr double kBlockTolerance = 1e-8;

// The largest level l such that theta_i >= need_i + slope_i l. DataError where no block has a slope
// (the level would be unbounded).
BlockAnswer MaximiseLevel(const BlockProblem& problem);

// The largest sum of gain_ig x_ig such that theta_i >= need_i. Infeasible needs: see `feasible`;
// `value` is then the largest part of all needs that can hold together, below 1.
BlockAnswer MaximiseGain(const BlockProblem& problem);

// The least ratio r such that every block finishes within it. `goals` by block; needs and slopes of
// the problem are not looked at. A convex program, solved as one; where that stalls, by Newton's
// method on r over MaximiseLevel.
BlockAnswer MinimiseWorstFinish(const BlockProblem& problem, std::span<const FinishGoal> goals);

}  // namespace allot
