#pragma once
// Aggregates over several tasks, each with several runs, after rliable (Agarwal et al., "Deep
// Reinforcement Learning at the Edge of the Statistical Precipice", NeurIPS 2021): every task
// weighs the same, and the interval is that of the percentile bootstrap stratified by task: runs
// are drawn again within each task, the tasks stay.

#include <functional>
#include <vector>

#include "core/types.h"

namespace allot {

// The values of the runs of each task; no task is without runs.
using TaskValues = std::vector<std::vector<double>>;

struct Estimate {
  double value = kUnknown;
  double low = kUnknown;  // 95 % interval
  double high = kUnknown;
};

// The mean over the tasks of the means over their runs.
double MeanOverTasks(const TaskValues& tasks);

// The mean of the middle half of all runs, in which each task has the same weight. Less moved by a
// single task than the mean, and with a smaller interval than the median.
double InterquartileMean(const TaskValues& tasks);

// The statistic of `tasks` and its interval from 2,000 resamples. Deterministic.
Estimate StratifiedBootstrap(const TaskValues& tasks,
                             const std::function<double(const TaskValues&)>& statistic);

}  // namespace allot
