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
  const auto ask = [&] {
    for (std::size_t i = 0; i < goals.size(); ++i) {
      slopes[i] = goals[i].work / (ratio * goals[i].due - goals[i].elapsed);
      // Too late already, to the last digit.
      if (!std::isfinite(slopes[i]) || !(slopes[i] > 0)) return LevelOfSlopes{};
    }
    return level_of(slopes);
  };
  LevelOfSlopes at;
  for (int step = 0; step < kMostSteps; ++step) {
    at = ask();
    if (at.need_price.size() != goals.size()) at = {0, slopes};  // not solved: it cannot be kept
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
  // Where a job can hardly be early enough, levels fall steeply: a ratio that is a little too low
  // would ask for too much by far.
  if (at.level < 1 - kClose && ratio < high) {
    ratio = high;
    ask();
  }
  return ratio;
}

}  // namespace allot::internal
