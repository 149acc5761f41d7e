#include "episode_log/step_columns.h"

#include <algorithm>

namespace allot {

void StepColumns::Observe(const Observation& o) {
  encoder_.Encode(o, &features_);
  const std::size_t rows = std::min(window_, o.job.size());
  jobs.assign(features_.jobs.begin(),
              features_.jobs.begin() + static_cast<std::ptrdiff_t>(rows * kJobFeatures));
  jobs.resize(window_ * kJobFeatures, 0.0F);
  context.assign(features_.context.begin(), features_.context.end());
  job_mask.assign(rows, 1);
  job_mask.resize(window_, 0);
}

void StepColumns::ObserveEnd(const ClusterSpec& cluster, Seconds interval, Seconds end) {
  Observation empty;
  empty.now = end;
  empty.interval = interval;
  empty.cluster = &cluster;
  Observe(empty);
}

void StepColumns::Act(const Observation& o, const Allocation& allocation) {
  action.assign(window_, 0.0F);
  for (const Allocation::Entry& entry : allocation.entries()) {
    const auto row = static_cast<std::size_t>(
        std::lower_bound(o.job.begin(), o.job.end(), entry.job) - o.job.begin());
    if (row < window_) {
      action[row] = static_cast<float>((*o.table[row])[entry.configuration].cost);
    }
  }
}

double LastReward(std::span<const JobRecord> records, std::span<const double> others) {
  double total = 0;
  for (const JobRecord& record : records) total -= record.finish - record.submit;
  for (const double reward : others) total -= reward;
  return total;
}

std::vector<double> LiveRewards(std::span<const Seconds> decisions, std::span<const Job> jobs,
                                std::span<const Seconds> until, Seconds end) {
  std::vector<double> rewards;
  for (std::size_t d = 0; d < decisions.size(); ++d) {
    const Seconds from = d == 0 ? -kNever : decisions[d];
    const Seconds to = d + 1 < decisions.size() ? decisions[d + 1] : end;
    double reward = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      reward -= std::max(0.0, std::min(until[j], to) - std::max(jobs[j].submit, from));
    }
    rewards.push_back(reward);
  }
  return rewards;
}

}  // namespace allot
