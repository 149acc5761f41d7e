#include "live/port/checkpoint_advice.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "live/port/worker_control.h"
#include "perf/checkpoint_interval.h"

namespace allot {

Seconds CheckpointAdvice::IntervalFor(const LiveJob& job) const {
  const Seconds cost = job.progress.save_seconds;
  const double failures = state_.failure_rate().rate() * static_cast<double>(job.shares.size());
  return std::min(YoungDalyInterval(cost, failures), std::max(kLongest, kLongestInCosts * cost));
}

void CheckpointAdvice::Send() {
  std::erase_if(sent_, [this](const auto& sent) {
    const LiveJob* const job = state_.job_table().Find(sent.first);
    return job == nullptr || job->over;
  });
  for (const LiveJob* job : state_.job_table().active()) {
    const bool hot = job->asked->mode == ResizeMode::kHot;
    if (job->over || !hot || job->running < 0 || !(job->progress.save_seconds > 0)) continue;
    const std::string& id = job->asked->id;
    const Seconds every = IntervalFor(*job);
    const auto sent = sent_.find(id);
    if (sent != sent_.end() && std::abs(every - sent->second) < 0.1 * sent->second) continue;
    const Status done = AskRuntime([&] { return runtime_.SetCheckpointEvery(id, every); });
    if (!done.ok()) continue;  // retried at the next poll
    sent_[id] = every;
    spdlog::debug("job {}: a checkpoint takes {:.2g} s, one every {:.0f} s is best on {} nodes", id,
                  job->progress.save_seconds, every, job->shares.size());
  }
}

}  // namespace allot
