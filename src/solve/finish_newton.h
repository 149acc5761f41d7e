#pragma once
// The least ratio of finish-time fairness over any problem that answers levels.

#include <functional>
#include <span>
#include <vector>

#include "solve/block_problem.h"

namespace allot::internal {

struct LevelOfSlopes {
  double level = 0;
  std::vector<double> need_price;  // by block, of any common scale; empty: not solved
};

// The ratio r at which the best level of the slopes work / (r due - elapsed) is 1, between `low`
// and `high`, by Newton's method: the level rises with r, and the prices say how fast. At most 60
// levels, most often 5 to 10; the last one asked is that of the answer, and at least about 1.
double LeastFinishRatio(std::span<const FinishGoal> goals, double low, double high,
                        const std::function<LevelOfSlopes(std::span<const double>)>& level_of);

}  // namespace allot::internal
