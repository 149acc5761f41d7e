#include "solve/block_certificate.h"

#include <algorithm>

#include "solve/block_elimination.h"

namespace allot::internal {
namespace {

// What the constraints are worth at these prices: an upper bound on the sum of gains and of rates
// at the prices of needs, less what the capacity costs.
double WorthBound(const BlockProblem& problem, const BlockAnswer& answer, bool with_gain) {
  const std::size_t types = problem.types();
  double bound = 0;
  for (std::size_t g = 0; g < types; ++g) bound += problem.capacity[g] * answer.type_price[g];
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    double best = 0;  // the price of its time
    for (std::size_t g = 0; g < types; ++g) {
      const double rate = problem.rate[i * types + g];
      if (!(rate > 0) || !(problem.capacity[g] > 0)) continue;
      const double gain = with_gain && !problem.gain.empty() ? problem.gain[i * types + g] : 0;
      const double worth = gain + rate * answer.need_price[i];
      best = std::max(best, worth - problem.blocks[i].use * answer.type_price[g]);
    }
    bound += best;
  }
  return bound;
}

void ScalePrices(double factor, BlockAnswer* answer) {
  for (double& price : answer->type_price) price *= factor;
  for (double& price : answer->need_price) price *= factor;
}

}  // namespace

double LevelBound(const BlockProblem& problem, BlockAnswer* answer) {
  double slopes = 0;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    slopes += answer->need_price[i] * problem.blocks[i].slope;
  }
  ScalePrices(1 / slopes, answer);
  double bound = WorthBound(problem, *answer, false);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    bound -= answer->need_price[i] * problem.blocks[i].need;
  }
  return bound;
}

double GainBound(const BlockProblem& problem, const BlockAnswer& answer) {
  double bound = WorthBound(problem, answer, true);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    bound -= answer.need_price[i] * problem.blocks[i].need;
  }
  return bound;
}

double FinishBound(const BlockProblem& problem, std::span<const FinishGoal> goals,
                   BlockAnswer* answer) {
  double slopes = 0;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    slopes -= answer->need_price[i] * AskedByFinish(goals[i], answer->value).first;
  }
  ScalePrices(1 / slopes, answer);
  double bound = answer->value;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    bound += answer->need_price[i] * AskedByFinish(goals[i], answer->value).value;
  }
  return bound - WorthBound(problem, *answer, false);
}

}  // namespace allot::internal
