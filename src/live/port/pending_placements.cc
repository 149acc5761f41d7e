#include "live/port/pending_placements.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/index.h"
#include "live/port/runtime_reader.h"

namespace allot {

bool PendingPlacements::Late(const LiveJob& job, const LiveWorker& worker) const {
  // The cluster chooses the nodes of counted jobs.
  if (job.asked->mode == ResizeMode::kCount || worker.leaving) return false;
  const Seconds waited = writer_.now() - std::max(worker.since, answers_since_);
  return worker.pending && worker.pending->cause != PendingCause::kSilent &&
         waited > job.worker_group.options().queue_patience;
}

bool PendingPlacements::LongRefused(const WorkerGroup& group) const {
  return !group.refusal().empty() &&
         writer_.now() - std::max(group.refused_since(), answers_since_) >
             group.options().queue_patience;
}

std::string PendingPlacements::ReasonOf(const LiveJob& job) const {
  if (!job.worker_group.refusal().empty()) return job.worker_group.refusal();
  for (const LiveWorker& worker : job.worker_group.workers()) {
    if (!worker.pending) continue;
    const auto& [cause, reason, detail] = *worker.pending;
    return fmt::format("pending: {}{}{}", reason, detail.empty() ? "" : ": ", detail);
  }
  const auto trial = trials_.find(job.index);
  if (trial != trials_.end()) return trial->second.why;
  const auto user = user_backs_off_until_.find(job.asked->user);
  if (job.running >= 0 || user == user_backs_off_until_.end() || user->second <= writer_.now())
    return "";
  return fmt::format("the cluster started no job of {}: tried again in {:.0f} s", job.asked->user,
                     user->second - writer_.now());
}

bool PendingPlacements::BacksOff(const LiveJob& job) const {
  if (job.running >= 0) return false;
  const auto trial = trials_.find(job.index);
  const auto user = user_backs_off_until_.find(job.asked->user);
  return (trial != trials_.end() && writer_.now() < trial->second.back_off_until) ||
         (user != user_backs_off_until_.end() && writer_.now() < user->second);
}

std::vector<NodeIndex> PendingPlacements::AvoidedBy(const LiveJob& job) const {
  std::vector<NodeIndex> nodes;
  if (avoid_until_.empty()) return nodes;
  const auto found = avoid_until_.find({job.asked->user, job.asked->requested});
  if (found == avoid_until_.end()) return nodes;
  for (const auto& avoided : found->second) nodes.push_back(avoided.first);
  return nodes;
}

bool PendingPlacements::MayGrow(const LiveJob& job) const {
  const auto trial = trials_.find(job.index);
  return trial == trials_.end() || writer_.now() >= trial->second.back_off_until;
}

// Takes away the GPUs of workers that have not started. True where they may start on other nodes.
bool PendingPlacements::AvoidNodes(const LiveJob& job, HeldGpus* usable) {
  const std::size_t nodes = usable->size();
  const bool refused = LongRefused(job.worker_group);
  HeldGpus begun(nodes, 0);
  std::vector<bool> late(nodes, false), elsewhere(nodes, false);
  for (const LiveWorker& worker : job.worker_group.workers()) {
    const std::size_t node = At(worker.node);
    if (Late(job, worker)) {
      late[node] = true;
      elsewhere[node] = elsewhere[node] || worker.pending->cause == PendingCause::kNodes;
    } else {
      begun[node] |= worker.gpus;
    }
  }
  bool tried_elsewhere = false;
  for (const NodeShare& share : job.shares) {
    const std::size_t node = At(share.node);
    if ((!late[node] && !refused) || (share.gpus & ~begun[node]) == 0) continue;
    (*usable)[node] = begun[node];
    if (!elsewhere[node]) continue;
    tried_elsewhere = true;
    avoid_until_[{job.asked->user, job.asked->requested}][share.node] = writer_.now() + kAvoidFor;
  }
  return tried_elsewhere;
}

void PendingPlacements::BackOff(Trial* trial, int tries_at_once) const {
  ++trial->tries;
  if (trial->tries < tries_at_once) return;
  const double doubled =
      kFirstBackOff * static_cast<double>(1 << std::min(trial->tries - tries_at_once, 20));
  trial->back_off_until = writer_.now() + std::min(kLongestBackOff, doubled);
}

void PendingPlacements::PlacedNowhere(const LiveJob& job, const std::string& why, bool soon) {
  Trial& trial = trials_[job.index];
  if (writer_.now() < trial.back_off_until) return;
  trial.why = why;
  trial.wanted = job.given() + 1;
  trial.at = writer_.now();
  if (soon) {
    trial.back_off_until = writer_.now() + kSoon;
    spdlog::debug("job {}: {}", job.asked->shown(), why);
    return;
  }
  BackOff(&trial, 1);
  spdlog::info("job {}: {}", job.asked->shown(), why);
}

void PendingPlacements::TakeBack(const LiveJob& job) {
  const LiveState& state = writer_.state();
  const Seconds now = writer_.now();
  HeldGpus usable(state.nodes().size(), ~std::uint64_t{0});
  const bool tried_elsewhere = AvoidNodes(job, &usable);
  Trial& trial = trials_[job.index];
  trial.why = ReasonOf(job);
  trial.wanted = job.given();
  trial.at = now;
  BackOff(&trial, tried_elsewhere ? kTries : 1);
  if (!tried_elsewhere) user_backs_off_until_[job.asked->user] = now + kFirstBackOff;
  ++counts_.starts_withdrawn;
  spdlog::warn("job {}: the cluster's scheduler does not start it, {}: {}", job.asked->shown(),
               tried_elsewhere ? "trying other nodes" : "backing off", trial.why);
  GiveOnly(writer_, job, state.job_table().SharesOn(job, usable), trial.why);
}

bool PendingPlacements::Withdraw(Seconds answers_since) {
  answers_since_ = answers_since;
  const Seconds now = writer_.now();
  bool due = false;
  for (const LiveJob* job : writer_.state().job_table().active()) {
    const auto trial = trials_.find(job->index);
    if (trial != trials_.end() && trial->second.back_off_until > 0 &&
        now >= trial->second.back_off_until) {
      trial->second.back_off_until = 0;
      due = true;
    }
    if (job->over) {
      trials_.erase(job->index);
      continue;
    }
    if (job->running < 0) continue;
    const WorkerGroup& group = job->worker_group;
    const std::vector<LiveWorker>& workers = group.workers();
    const bool late = std::any_of(workers.begin(), workers.end(),
                                  [&](const LiveWorker& w) { return Late(*job, w); });
    if (late || LongRefused(group)) {
      TakeBack(*job);
      due = true;
    } else if (trial != trials_.end() && group.training(job->progress) &&
               (job->given() >= trial->second.wanted ||
                now - trial->second.at > 2 * kLongestBackOff)) {
      trials_.erase(trial);
    }
  }
  const auto is_over = [now](const auto& until) { return now >= until.second; };
  for (auto& avoided : avoid_until_) due = std::erase_if(avoided.second, is_over) > 0 || due;
  std::erase_if(avoid_until_, [](const auto& avoided) { return avoided.second.empty(); });
  return std::erase_if(user_backs_off_until_, is_over) > 0 || due;
}

}  // namespace allot
