#include "metrics/bootstrap.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/check.h"
#include "core/rng.h"
#include "metrics/quantile.h"

namespace allot {

double MeanOverTasks(const TaskValues& tasks) {
  double sum = 0;
  for (const std::vector<double>& values : tasks) {
    ALLOT_CHECK(!values.empty());
    double of_task = 0;
    for (const double value : values) of_task += value;
    sum += of_task / static_cast<double>(values.size());
  }
  return sum / static_cast<double>(tasks.size());
}

double InterquartileMean(const TaskValues& tasks) {
  std::vector<std::pair<double, double>> weighted;  // value and weight; all weights add up to 1
  for (const std::vector<double>& values : tasks) {
    ALLOT_CHECK(!values.empty());
    const double weight = 1.0 / static_cast<double>(tasks.size() * values.size());
    for (const double value : values) weighted.emplace_back(value, weight);
  }
  std::ranges::sort(weighted);
  constexpr double kFrom = 0.25;
  constexpr double kTo = 0.75;
  double before = 0;
  double sum = 0;
  for (const auto& [value, weight] : weighted) {
    const double inside = std::min(before + weight, kTo) - std::max(before, kFrom);
    if (inside > 0) sum += value * inside;
    before += weight;
  }
  return sum / (kTo - kFrom);
}

Estimate StratifiedBootstrap(const TaskValues& tasks,
                             const std::function<double(const TaskValues&)>& statistic) {
  constexpr int kResamples = 2000;
  constexpr double kTail = 0.025;
  std::vector<double> resampled;
  resampled.reserve(kResamples);
  TaskValues drawn = tasks;
  for (std::uint64_t resample = 0; resample < kResamples; ++resample) {
    Rng rng(resample, "stratified-bootstrap");
    for (std::size_t task = 0; task < tasks.size(); ++task) {
      for (double& value : drawn[task]) value = tasks[task][rng.Below(tasks[task].size())];
    }
    resampled.push_back(statistic(drawn));
  }
  std::ranges::sort(resampled);
  return {statistic(tasks), Quantile(std::span<const double>(resampled), kTail),
          Quantile(std::span<const double>(resampled), 1 - kTail)};
}

}  // namespace allot
