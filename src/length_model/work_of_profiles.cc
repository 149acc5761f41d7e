#include "length_model/work_of_profiles.h"

#include <algorithm>

#include "core/index.h"

namespace allot {

void WorkOfProfiles::OnEpisodeStart() {
  by_name_.clear();
  profiles_.clear();
  of_job_.clear();
  events_.Reset();
}

void WorkOfProfiles::Observe(const Observation& o) {
  if (events_.Follow(o.events) != EventCursor::Step::kAgain) {
    for (const EndedJob& ended : o.events.ended) {
      if (ended.job < 0 || At(ended.job) >= of_job_.size() || of_job_[At(ended.job)] == kUnmet) {
        continue;
      }
      Profile& profile = profiles_[At(of_job_[At(ended.job)])];
      profile.work[profile.ended++ % kKept] = ended.work;
      profile.most = std::max(profile.most, ended.work);
    }
  }
  for (std::size_t row = 0; row < o.job.size(); ++row) {
    const std::size_t job = At(o.job[row]);
    if (job >= of_job_.size()) of_job_.resize(job + 1, kUnmet);
    if (of_job_[job] == kUnmet) {
      const auto [known, is_new] =
          by_name_.try_emplace(o.table[row]->name(), static_cast<std::int32_t>(profiles_.size()));
      if (is_new) profiles_.emplace_back();
      of_job_[job] = known->second;
    }
    double& most = profiles_[At(of_job_[job])].most;
    most = std::max(most, o.done_work[row]);
  }
}

double WorkOfProfiles::Remaining(const Observation& o, std::int32_t row) const {
  const Profile& profile = profiles_[At(of_job_[At(o.job[At(row)])])];
  const double done = o.done_work[At(row)];
  double sum = 0;
  std::size_t longer = 0;
  for (std::size_t i = 0; i < std::min(profile.ended, kKept); ++i) {
    if (!(profile.work[i] > done)) continue;
    sum += profile.work[i] - done;
    ++longer;
  }
  const double left = longer > 0 ? sum / static_cast<double>(longer) : 2 * profile.most - done;
  return std::max(left, o.table[At(row)]->reference_rate() * o.interval);
}

}  // namespace allot
