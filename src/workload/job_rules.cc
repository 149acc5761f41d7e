#include "workload/job_rules.h"

#include <fmt/format.h>

#include <cmath>

namespace allot {

// Conditions are written so that a NaN breaks them.
std::optional<BrokenRule> FindBrokenRule(const Job& job) {
  const auto broken = [](std::string rule, auto got) {
    return BrokenRule{std::move(rule), fmt::format("{}", got)};
  };
  if (job.id.empty()) return broken("a job's id must not be empty", "''");
  if (!(job.submit >= 0 && job.submit <= kLongestTime)) {
    return broken(fmt::format("submit time must be from 0 to {} s", kLongestTime), job.submit);
  }
  if (job.gpus < 1 || job.gpus > kMostGpus) {
    return broken(fmt::format("gpus must be from 1 to {}", kMostGpus), job.gpus);
  }
  if (!(job.duration > 0 && job.duration <= kLongestTime)) {
    return broken(fmt::format("duration must be > 0 and at most {} s", kLongestTime), job.duration);
  }
  if (job.min_gpus < 0 || job.min_gpus > job.gpus) {
    return broken("min_gpus must be from 1 to gpus",
                  fmt::format("{} with {} gpus", job.min_gpus, job.gpus));
  }
  if (job.max_gpus < 0 || job.highest() < job.gpus || job.max_gpus > kMostGpus) {
    return broken(fmt::format("max_gpus must be from gpus to {}", kMostGpus),
                  fmt::format("{} with {} gpus", job.max_gpus, job.gpus));
  }
  if (!(job.work >= 0 && std::isfinite(job.work))) return broken("work must be >= 0", job.work);
  if (!(job.user_estimate >= 0 && job.user_estimate <= kLongestTime)) {
    return broken(fmt::format("user_estimate must be from 0 to {} s", kLongestTime),
                  job.user_estimate);
  }
  for (const float memory : {job.gpu_memory_gb, job.memory_gb}) {
    if (!(memory >= 0 && memory <= kMostMemoryGb)) {
      return broken(fmt::format("memory must be from 0 to {} GB", kMostMemoryGb), memory);
    }
  }
  if (!(job.cpus >= 0 && job.cpus <= kMostCpus)) {
    return broken(fmt::format("cpus must be from 0 to {}", kMostCpus), job.cpus);
  }
  if (!(job.communication.share >= 0 && job.communication.share < 1)) {
    return broken("comm_share must be from 0 to below 1", job.communication.share);
  }
  if (!std::isfinite(job.priority)) return broken("priority must be finite", job.priority);
  if (!(job.deadline > job.submit)) {
    return broken("deadline must be after the submit time",
                  fmt::format("{} with submit {}", job.deadline, job.submit));
  }
  return std::nullopt;
}

}  // namespace allot
