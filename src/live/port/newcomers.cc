#include "live/port/newcomers.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "live/port/runtime_reader.h"

namespace allot {

bool Newcomers::TakeBackLate() {
  const Seconds now = writer_.now();
  bool due = false;
  for (const LiveJob* job : writer_.state().job_table().active()) {
    if (job->over || !Has(*job)) {
      due = trials_.erase(job->index) > 0 || due;  // it may grow from now on
      continue;
    }
    if (job->running < 0 && !trials_.contains(job->index)) continue;
    Trial& trial = trials_[job->index];
    if (trial.back_off_until > 0 && now >= trial.back_off_until) {
      trial.back_off_until = 0;
      due = true;
    }
    const int late_tries = job->worker_group.past().backoff.late_tries;
    if (job->running < 0 || late_tries <= trial.late_tries) continue;
    const BackoffOptions& options = job->worker_group.options().backoff;
    if (job->worker_group.past().backoff.failures >= options.most_failures) continue;
    trial.late_tries = late_tries;
    trial.why = job->worker_group.lateness();
    const Seconds pause = std::min(kLongestBackOff, kFirstBackOff * std::exp2(trial.tries++));
    trial.back_off_until = now + pause;
    spdlog::warn("job {} gives its GPUs back and waits for {:.0f} s: {}", job->asked->shown(),
                 pause, trial.why);
    GiveOnly(writer_, *job, {}, trial.why);
    due = true;
  }
  return due;
}

std::string Newcomers::TroubleOf(const LiveJob& job) const {
  const auto trial = trials_.find(job.index);
  return trial == trials_.end() ? "" : trial->second.why;
}

std::optional<std::string> Newcomers::WhyNot(const LiveJob& job, GpuCount least,
                                             GpuCount free) const {
  const auto trial = trials_.find(job.index);
  if (trial == trials_.end() || trial->second.tries == 0) return std::nullopt;
  const Seconds left = trial->second.back_off_until - writer_.now();
  if (left > 0) {
    return fmt::format("its workers did not join: tried again in {:.0f} s", std::ceil(left));
  }
  if (least <= free) return std::nullopt;
  return fmt::format("its workers did not join: it starts once {} GPUs are free, {} are", least,
                     free);
}

}  // namespace allot
