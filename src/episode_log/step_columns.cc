#include "episode_log/step_columns.h"

#include <algorithm>

#include "core/index.h"

namespace allot {

void StepColumns::Observe(const Observation& o) {
  encoder_.Encode(o, &features_);
  const std::size_t rows = std::min(window_.jobs, o.job.size());
  jobs.assign(features_.jobs.begin(),
              features_.jobs.begin() + static_cast<std::ptrdiff_t>(rows * kJobFeatures));
  jobs.resize(window_.jobs * kJobFeatures, 0.0F);
  context.assign(features_.context.begin(), features_.context.end());
  job_mask.assign(rows, 1);
  job_mask.resize(window_.jobs, 0);
  job.assign(o.job.begin(), o.job.begin() + static_cast<std::ptrdiff_t>(rows));
  job.resize(window_.jobs, -1);
  legal.assign(window_.jobs * window_.legal_bytes(), 0);
  legal_.Observe(*o.cluster);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::vector<std::uint8_t>& allowed = legal_.Of(*o.table[row]);
    std::uint8_t* const bits = legal.data() + row * window_.legal_bytes();
    for (std::size_t k = 0; k < std::min(allowed.size(), window_.configurations); ++k) {
      bits[k / 8] = static_cast<std::uint8_t>(bits[k / 8] | allowed[k] << k % 8);
    }
  }
}

void StepColumns::ObserveEnd(const ClusterSpec& cluster, Seconds interval, Seconds end) {
  Observation empty;
  empty.now = end;
  empty.interval = interval;
  empty.cluster = &cluster;
  Observe(empty);
}

void StepColumns::Act(const Observation& o, const Allocation& allocation) {
  action.assign(window_.jobs, 0);
  left_out = 0;
  for (const Allocation::Entry& entry : allocation.entries()) {
    const auto row = static_cast<std::size_t>(
        std::lower_bound(o.job.begin(), o.job.end(), entry.job) - o.job.begin());
    if (row < window_.jobs && At(entry.configuration) < window_.configurations) {
      action[row] = entry.configuration + 1;
    } else {
      ++left_out;
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
