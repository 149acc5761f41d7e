#include "solve/finish_newton.h"

#include <algorithm>
#include <cmath>

namespace allot::internal {

double LeastFinishRatio(std::span<const FinishGoal> goals, double low, double high,
                        const std::function<LevelOfSlopes(std::span<const double>)>& level_of) {
  constexpr int kMostSteps = 60;
  constexpr double kClose = 2e-10;
  double ratio = high;
  std::vector<double> slopes(goals.size());
  for (int step = 0; step < kMostSteps; ++step) {
    for (std::size_t i = 0; i < goals.size(); ++i) {
      slopes[i] = goals[i].work / (ratio * goals[i].due - goals[i].elapsed);
    }
    const LevelOfSlopes at = level_of(slopes);
    if (at.level >= 1) high = std::min(high, ratio);
    if (at.level <= 1) low = std::max(low, ratio);
    if (std::abs(at.level - 1) < kClose || high - low < kClose * high) break;
    double weights = 0;
    double rise = 0;
    for (std::size_t i = 0; i < goals.size(); ++i) {
      const double weight = at.need_price[i] * slopes[i];
      weights += weight;
      rise += weight * goals[i].due / (ratio * goals[i].due - goals[i].elapsed);
    }
    double next = ratio - (at.level - 1) * weights / (at.level * rise);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - ratio) < 1e-12 * ratio) break;
    ratio = next;
  }
  return ratio;
}

}  // namespace allot::internal
