#pragma once
// Makes the list of jobs of a poll of Slurm: the records that are as they were at the poll before
// are that look's own. So of many thousand jobs that wait one record each is in memory, however
// many hold it, and who sees the same record again need not read it again. For back ends.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "clients/slurm/slurm_records.h"

namespace allot {

class SharedJobs {
 public:
  // `before` outlives it.
  explicit SharedJobs(const SlurmJobs& before) {
    before_.reserve(before.size());
    for (const auto& job : before) before_.push_back(&job);
    std::stable_sort(before_.begin(), before_.end(),
                     [](const auto* a, const auto* b) { return (*a)->id < (*b)->id; });
  }

  void Reserve(std::size_t jobs) { jobs_.reserve(jobs); }

  void Add(SlurmJob job) {
    const auto known =
        std::lower_bound(before_.begin(), before_.end(), job.id,
                         [](const auto* record, std::uint32_t id) { return (*record)->id < id; });
    if (known != before_.end() && ***known == job) {
      jobs_.push_back(**known);
    } else {
      jobs_.push_back(std::make_shared<const SlurmJob>(std::move(job)));
    }
  }

  SlurmJobs Take() { return std::move(jobs_); }

 private:
  std::vector<const std::shared_ptr<const SlurmJob>*> before_;  // by id
  SlurmJobs jobs_;
};

}  // namespace allot
