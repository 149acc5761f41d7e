#include "live/stuck_starts.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/index.h"
#include "live/runtime_reader.h"

namespace allot {

bool StuckStarts::Late(const LiveJob& job, const LiveWorker& worker) const {
  // Where workers of a kCount job are is not ours to say.
  if (job.asked.mode == ResizeMode::kCount || worker.leaving) return false;
  const Seconds waited = writer_.now() - std::max(worker.since, answers_since_);
  return !worker.waits.empty() && worker.waits != kNoWord &&
         waited > job.worker_group.options().queue_patience;
}

bool StuckStarts::LongRefused(const WorkerGroup& group) const {
  return !group.refusal().empty() &&
         writer_.now() - std::max(group.refused_since(), answers_since_) >
             group.options().queue_patience;
}

std::string StuckStarts::ReasonOf(const LiveJob& job) const {
  if (!job.worker_group.refusal().empty()) return job.worker_group.refusal();
  for (const LiveWorker& worker : job.worker_group.workers()) {
    if (!worker.waits.empty()) return "pending: " + worker.waits;
  }
  const auto trial = trials_.find(job.index);
  return trial == trials_.end() ? "" : trial->second.why;
}

bool StuckStarts::rests(const LiveJob& job) const {
  const auto trial = trials_.find(job.index);
  return trial != trials_.end() && job.running < 0 && writer_.now() < trial->second.rest_until;
}

// All that has not begun of it, and the nodes of that.
void StuckStarts::TakeBack(const LiveJob& job) {
  const LiveState& state = writer_.state();
  const Seconds now = writer_.now();
  const bool refused = LongRefused(job.worker_group);
  HeldGpus begun(state.nodes().size(), 0);
  for (const LiveWorker& worker : job.worker_group.workers()) {
    if (!Late(job, worker)) begun[At(worker.node)] |= worker.gpus;
  }
  HeldGpus usable(state.nodes().size(), ~std::uint64_t{0});
  for (const NodeShare& share : job.shares) {
    bool late = refused;
    for (const LiveWorker& worker : job.worker_group.workers()) {
      late = late || (worker.node == share.node && Late(job, worker));
    }
    if (!late || (share.gpus & ~begun[At(share.node)]) == 0) continue;
    usable[At(share.node)] = begun[At(share.node)];
    avoid_until_[share.node] = now + kAvoidFor;
  }
  Trial& trial = trials_[job.index];
  trial.why = ReasonOf(job);
  if (++trial.tries >= kTries) {
    const double doubled =
        kFirstRest * static_cast<double>(1 << std::min(trial.tries - kTries, 20));
    trial.rest_until = now + std::min(kLongestRest, doubled);
  }
  ++counts_.starts_withdrawn;
  spdlog::warn("job {}: the cluster does not begin with it, it is tried elsewhere: {}",
               job.asked.shown(), trial.why);
  GiveOnly(writer_, job, state.job_table().SharesOn(job, usable), trial.why);
}

bool StuckStarts::Withdraw(Seconds answers_since) {
  answers_since_ = answers_since;
  const Seconds now = writer_.now();
  bool due = false;
  for (const LiveJob* job : writer_.state().job_table().active()) {
    if (job->over) {
      trials_.erase(job->index);
      continue;
    }
    if (job->running < 0) {
      const auto trial = trials_.find(job->index);
      if (trial == trials_.end() || trial->second.rest_until == 0) continue;
      if (now >= trial->second.rest_until) {
        trial->second.rest_until = 0;
        due = true;
      }
      continue;
    }
    const WorkerGroup& group = job->worker_group;
    const std::vector<LiveWorker>& workers = group.workers();
    const bool late = std::any_of(workers.begin(), workers.end(),
                                  [&](const LiveWorker& w) { return Late(*job, w); });
    if (late || LongRefused(group)) {
      TakeBack(*job);
      due = true;
    } else if (group.training(job->progress)) {
      trials_.erase(job->index);
    }
  }
  due = std::erase_if(avoid_until_, [now](const auto& node) { return now >= node.second; }) > 0 ||
        due;
  avoided_.clear();
  for (const auto& [node, until] : avoid_until_) avoided_.insert(node);
  return due;
}

}  // namespace allot
