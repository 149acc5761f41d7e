#include "live/workers/worker_group.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/index.h"
#include "core/strings.h"

namespace allot {
namespace {

// The usual reason why no worker ever joined.
constexpr const char* kNotElastic =
    ": its workers must run an elastic program, which its script names by 'allot-elastic run' on "
    "Slurm";

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

WorkerAction StopOf(const LiveWorker& worker, StopMode mode, std::string why,
                    StopFault fault = StopFault::kNone) {
  WorkerAction stop;
  stop.kind = WorkerAction::Kind::kStop;
  stop.worker = worker.id;
  stop.mode = mode;
  stop.fault = fault;
  stop.why = std::move(why);
  return stop;
}

}  // namespace

void WorkerGroup::SetTarget(std::span<const NodeShare> shares) {
  StartAccepted();  // an earlier refusal does not apply to the new target
  const std::vector<Slot> before = std::exchange(target_, {});
  for (const NodeShare& share : shares) {
    if (mode_ == ResizeMode::kRestart) {
      target_.push_back({share.node, share.gpus});
      continue;
    }
    for (std::uint64_t left = share.gpus; left != 0; left &= left - 1) {
      target_.push_back({share.node, left & -left});
    }
  }
  // A new target has no late workers. If no worker ever joined, the job is the reason, not the
  // node.
  if (target_ != before && past_.membership.epoch >= 0) past_.backoff.AllJoined();
}

const LiveWorker* WorkerGroup::Find(std::string_view id) const {
  const auto found = std::find_if(past_.workers.begin(), past_.workers.end(),
                                  [id](const LiveWorker& worker) { return worker.id == id; });
  return found == past_.workers.end() ? nullptr : &*found;
}

LiveWorker* WorkerGroup::Find(std::string_view id) {
  return const_cast<LiveWorker*>(std::as_const(*this).Find(id));
}

const LiveWorker* WorkerGroup::At(const Slot& slot) const {
  const auto found =
      std::find_if(past_.workers.begin(), past_.workers.end(), [&](const LiveWorker& w) {
        return !w.leaving && w.node == slot.node && w.gpus == slot.gpus;
      });
  return found == past_.workers.end() ? nullptr : &*found;
}

bool WorkerGroup::Wanted(const LiveWorker& worker) const {
  return !over_ && std::any_of(target_.begin(), target_.end(), [&](const Slot& slot) {
    return slot.node == worker.node && slot.gpus == worker.gpus;
  });
}

std::vector<WorkerGroup::Slot> WorkerGroup::Missing() const {
  std::vector<Slot> missing;
  for (const Slot& slot : target_) {
    if (At(slot) == nullptr) missing.push_back(slot);
  }
  return missing;
}

bool WorkerGroup::AllAreMembers() const {
  return std::ranges::all_of(target_, [this](const Slot& slot) {
    const LiveWorker* worker = At(slot);
    return worker != nullptr && Contains(past_.membership.members, worker->id);
  });
}

std::vector<std::string> WorkerGroup::MembersAlive() const {
  std::vector<std::string> alive;
  for (const std::string& member : past_.membership.members) {
    const LiveWorker* worker = Find(member);
    if (worker != nullptr && !worker->leaving) alive.push_back(member);
  }
  return alive;
}

WorkerAction WorkerGroup::StartOf(const std::vector<Slot>& slots, Seconds now, HeldGpus* held) {
  WorkerAction action;
  action.kind = WorkerAction::Kind::kStart;
  for (const Slot& slot : slots) {
    LiveWorker worker;
    worker.id = fmt::format("{}.{}", job_, past_.next_number++);
    worker.node = slot.node;
    worker.gpus = slot.gpus;
    worker.since = now;
    (*held)[allot::At(slot.node)] |= slot.gpus;
    action.start.push_back(std::move(worker));
  }
  return action;
}

void WorkerGroup::StopAll(StopMode mode, const std::string& why, std::vector<WorkerAction>* actions,
                          StopFault fault) const {
  for (const LiveWorker& worker : past_.workers) {
    if (!worker.leaving) actions->push_back(StopOf(worker, mode, why, fault));
  }
}

// Kills workers that should have left, joined or sent a message long ago.
void WorkerGroup::KillOverdue(Seconds now, std::vector<WorkerAction>* actions) const {
  for (const LiveWorker& worker : past_.workers) {
    const char* why = nullptr;
    StopFault fault = StopFault::kNone;
    if (worker.killed) {
      // The runtime may have refused the kill, or the daemon died before it asked.
      if (now - worker.since > options_.leave_grace) why = "is still there";
    } else if (worker.leaving && now - worker.since > options_.leave_grace) {
      why = "did not leave in time";
    } else if (!worker.leaving && worker.state == WorkerState::kStarting &&
               now - worker.since > options_.start_timeout) {
      why = "did not join in time";
      if (mode_ == ResizeMode::kHot && !worker.pending) fault = StopFault::kLate;
    } else if (worker.silent > options_.hung_after &&
               (worker.state == WorkerState::kReady ||
                Contains(past_.membership.members, worker.id))) {
      why = "is silent";  // also a member that has hung since an earlier daemon and so never joined
    }
    if (why != nullptr) actions->push_back(StopOf(worker, StopMode::kKill, why, fault));
  }
}

std::vector<WorkerAction> WorkerGroup::Next(Seconds now, const JobProgress& progress,
                                            const HeldGpus& held,
                                            const std::vector<bool>& node_up) {
  std::vector<WorkerAction> actions;
  KillOverdue(now, &actions);
  past_.backoff.Progressed(progress.step);
  if (over_) {
    StopAll(StopMode::kSave, "the job is over", &actions);
  } else if (target_.empty()) {
    StopAll(StopMode::kSave, "its GPUs go to other jobs", &actions);
  } else if (past_.backoff.failures >= options_.backoff.most_failures) {
    WorkerAction give_up;
    give_up.kind = WorkerAction::Kind::kGiveUp;
    give_up.why = fmt::format("its workers failed {} times in a row without progress",
                              past_.backoff.failures);
    if (past_.backoff.late_tries > 0) {
      give_up.why +=
          fmt::format("; the last did not join within {:.0f} s{}", options_.start_timeout,
                      past_.membership.epoch < 0 ? kNotElastic : "");
    }
    actions.push_back(std::move(give_up));
  } else if (StopStalled(now, progress, &actions)) {
    // They start again once they have ended.
  } else if (mode_ == ResizeMode::kRestart) {
    NextRestart(now, held, node_up, &actions);
  } else if (mode_ == ResizeMode::kCount) {
    NextCount(now, held, node_up, &actions);
  } else {
    NextHot(now, progress, held, node_up, &actions);
  }
  return actions;
}

// A restart job need not report anything. Only one that has reported is known to do so.
bool WorkerGroup::StopStalled(Seconds now, const JobProgress& progress,
                              std::vector<WorkerAction>* actions) {
  const bool reports = progress.step > 0 || progress.work > 0 || progress.saved_work > 0;
  if (mode_ == ResizeMode::kCount || (mode_ == ResizeMode::kRestart && !reports)) return false;
  if (!stall_.Check(progress, training(progress), options_.stalled_after, now)) return false;
  const std::string why =
      fmt::format("all workers are alive, but made no step for {:.0f} s", stall_.still());
  StopAll(StopMode::kKill, why, actions, StopFault::kStalled);
  return true;
}

void WorkerGroup::NextRestart(Seconds now, HeldGpus held, const std::vector<bool>& node_up,
                              std::vector<WorkerAction>* actions) {
  const bool as_wanted = past_.workers.size() == target_.size() &&
                         std::all_of(past_.workers.begin(), past_.workers.end(),
                                     [this](const LiveWorker& worker) { return Wanted(worker); });
  if (!past_.workers.empty()) {
    if (!as_wanted || past_.restarting) {
      past_.restarting = true;
      StopAll(StopMode::kSave, "the job restarts elsewhere", actions);
    }
    return;
  }
  past_.restarting = false;
  if (!MayStart(now)) return;
  for (const Slot& slot : target_) {
    const std::size_t node = allot::At(slot.node);
    if ((held[node] & slot.gpus) != 0 || !node_up[node]) return;
  }
  actions->push_back(StartOf(target_, now, &held));
}

// The facts without times and without workers that cannot start.
EpochFacts WorkerGroup::FactsOfEpoch(const JobProgress& progress) const {
  EpochFacts facts;
  facts.latest = past_.membership;
  facts.alive = MembersAlive();
  facts.reached = past_.membership.epoch < 0 || progress.epoch >= past_.membership.epoch;
  for (const std::string& member : facts.alive) {
    if (Wanted(*Find(member))) facts.stay.push_back(member);
  }
  for (const LiveWorker& worker : past_.workers) {
    if (worker.leaving || Contains(past_.membership.members, worker.id) || !Wanted(worker)) {
      continue;
    }
    if (worker.state == WorkerState::kReady) {
      facts.join.push_back(worker.id);
    } else {
      facts.awaited = true;
    }
  }
  return facts;
}

void WorkerGroup::NextHot(Seconds now, const JobProgress& progress, HeldGpus held,
                          const std::vector<bool>& node_up, std::vector<WorkerAction>* actions) {
  EpochFacts facts = FactsOfEpoch(progress);
  // New workers can start if their GPUs are free.
  std::vector<Slot> startable;
  for (const Slot& slot : Missing()) {
    const std::size_t node = allot::At(slot.node);
    if (!node_up[node]) continue;
    if ((held[node] & slot.gpus) != 0) {
      facts.blocked = true;
    } else {
      startable.push_back(slot);
    }
  }
  facts.awaited = facts.awaited || facts.blocked || !startable.empty();
  if (!startable.empty() && MayStart(now)) actions->push_back(StartOf(startable, now, &held));

  // A worker of an earlier decision that never was a member has no state to save.
  for (const LiveWorker& worker : past_.workers) {
    const bool member = Contains(past_.membership.members, worker.id);
    if (worker.leaving || worker.killed || member || Wanted(worker)) continue;
    actions->push_back(StopOf(worker, StopMode::kKill, "no longer wanted"));
  }

  joined_since_ = facts.join.empty() ? kNever : std::min(joined_since_, now);
  facts.impatient = now - joined_since_ > options_.patience;
  // Of two jobs that exchange GPUs, the one whose next epoch would be empty restarts.
  const bool nobody_next = facts.stay.empty() && facts.join.empty();
  if (nobody_next && !facts.alive.empty() && facts.blocked) {
    return StopAll(StopMode::kSave, "the job restarts elsewhere", actions);
  }
  broken_since_ = progress.broken ? std::min(broken_since_, now) : kNever;
  facts.broken = now - broken_since_ > options_.broken_grace;
  std::optional<NextEpoch> next = PlanEpoch(facts);
  if (!next) return;
  WorkerAction announce;
  announce.kind = WorkerAction::Kind::kAnnounce;
  announce.membership = std::move(next->membership);
  announce.why = next->why;
  actions->push_back(std::move(announce));
}

void WorkerGroup::NextCount(Seconds now, HeldGpus held, const std::vector<bool>& node_up,
                            std::vector<WorkerAction>* actions) {
  std::vector<const LiveWorker*> present;
  for (const LiveWorker& worker : past_.workers) {
    if (!worker.leaving && node_up[allot::At(worker.node)]) present.push_back(&worker);
  }
  // The newest workers are stopped first, because they may have no pod yet.
  for (std::size_t w = present.size(); w > target_.size(); --w) {
    actions->push_back(StopOf(*present[w - 1], StopMode::kSave, "the job shrinks"));
  }
  if (present.size() >= target_.size() || !MayStart(now)) return;
  std::vector<Slot> startable;
  for (const Slot& slot : Missing()) {
    const std::size_t node = allot::At(slot.node);
    if (present.size() + startable.size() == target_.size()) break;
    if (node_up[node] && (held[node] & slot.gpus) == 0) startable.push_back(slot);
  }
  if (!startable.empty()) actions->push_back(StartOf(startable, now, &held));
}

void WorkerGroup::Announced(const Membership& membership, Seconds now) {
  past_.membership = membership;
  if (AllAreMembers()) past_.backoff.AllJoined();
  joined_since_ = kNever;
  broken_since_ = kNever;
  for (LiveWorker& worker : past_.workers) {
    if (worker.leaving || Contains(membership.members, worker.id)) continue;
    if (worker.state == WorkerState::kReady && !Wanted(worker)) {
      worker.leaving = true;
      worker.since = now;
    }
  }
}

WorkerFailure WorkerGroup::Stopped(const std::string& id, StopMode mode, StopFault fault,
                                   std::int64_t step, Seconds now) {
  auto failure = WorkerFailure::kNone;
  LiveWorker* worker = Find(id);
  if (worker == nullptr) return failure;
  if (fault == StopFault::kLate) failure = past_.backoff.WasLate(step, now, options_.backoff);
  if (fault == StopFault::kStalled) (void)past_.backoff.Failed(step, now, options_.backoff);
  if (!worker->leaving || mode == StopMode::kKill) worker->since = now;
  worker->leaving = true;
  worker->killed = mode == StopMode::kKill;
  return failure;
}

void WorkerGroup::StopsUndone() {
  past_.restarting = false;
  for (LiveWorker& worker : past_.workers) worker.leaving = worker.killed = false;
}

void WorkerGroup::ExpectAll(Seconds now) {
  for (LiveWorker& worker : past_.workers) {
    if (worker.state == WorkerState::kStarting) worker.since = std::max(worker.since, now);
  }
}

void WorkerGroup::Update(const RuntimeWorker& seen, Seconds now) {
  if (seen.state == WorkerState::kEnded) {
    (void)Gone(seen.id, seen.failed, past_.backoff.step_at_failure, now);
  } else if (LiveWorker* worker = Find(seen.id); worker != nullptr) {
    const bool lost = worker->state == WorkerState::kReady && seen.state == WorkerState::kStarting;
    worker->state = seen.state;
    worker->silent = seen.silent;
    worker->pending = seen.state == WorkerState::kStarting ? seen.pending : std::nullopt;
    if ((seen.preparing || lost) && !worker->leaving) worker->since = now;
  }
}

void WorkerGroup::Moved(const std::string& id, NodeIndex node, std::uint64_t gpus) {
  LiveWorker* worker = Find(id);
  if (worker == nullptr || mode_ != ResizeMode::kCount) return;
  worker->node = node;
  worker->gpus = gpus;
}

WorkerFailure WorkerGroup::Gone(const std::string& id, bool failed, std::int64_t step,
                                Seconds now) {
  auto failure = WorkerFailure::kNone;
  const LiveWorker* worker = Find(id);
  if (worker == nullptr) return failure;
  if (failed && !worker->leaving && !over_) {
    failure = past_.backoff.Failed(step, now, options_.backoff);
    past_.restarting = mode_ == ResizeMode::kRestart;
  }
  std::erase_if(past_.workers, [&id](const LiveWorker& w) { return w.id == id; });
  return failure;
}

void WorkerGroup::Adopt(LiveWorker worker) {
  PassNumberOf(worker.id);
  past_.restarting = false;  // the workers before have ended
  past_.workers.push_back(std::move(worker));
}

void WorkerGroup::PassNumberOf(std::string_view worker) {
  const auto number = ParseInteger(worker.substr(worker.rfind('.') + 1));
  if (number) past_.next_number = std::max<std::int64_t>(past_.next_number, *number + 1);
}

// GPUs of late workers are idle, and no exit code reports that. A job that trains without the late
// worker is not given up, so its tries have no limit.
std::string WorkerGroup::lateness() const {
  const StartBackoff& backoff = past_.backoff;
  if (over_ || backoff.late_tries == 0) return "";
  const auto joined = [](const LiveWorker& worker) { return worker.state == WorkerState::kReady; };
  const bool complete = Missing().empty() && std::ranges::all_of(past_.workers, joined);
  if (!target_.empty() && complete) return "";
  if (past_.membership.epoch < 0) {
    return fmt::format("none of its workers has joined within {:.0f} s, {} of {} tries{}",
                       options_.start_timeout, backoff.failures, options_.backoff.most_failures,
                       kNotElastic);
  }
  return fmt::format("one of its workers has not joined within {:.0f} s, in {} {}",
                     options_.start_timeout, backoff.late_tries,
                     backoff.late_tries == 1 ? "try" : "tries");
}

bool WorkerGroup::training(const JobProgress& progress) const {
  if (target_.empty() || past_.workers.size() != target_.size() || !Missing().empty()) return false;
  if (mode_ != ResizeMode::kHot) {
    return std::all_of(past_.workers.begin(), past_.workers.end(), [](const LiveWorker& worker) {
      return worker.state == WorkerState::kReady;
    });
  }
  return past_.membership.members.size() == target_.size() &&
         progress.epoch == past_.membership.epoch && !progress.broken &&
         MembersAlive().size() == target_.size();
}

JobStage WorkerGroup::stage(const JobProgress& progress) const {
  if (over_) return past_.workers.empty() ? JobStage::kOver : JobStage::kEnding;
  if (target_.empty()) return past_.workers.empty() ? JobStage::kWaiting : JobStage::kStopping;
  if (training(progress)) return JobStage::kTraining;
  if (past_.workers.empty()) return JobStage::kStarting;
  if (past_.restarting) return JobStage::kRestarting;
  const bool leaving = std::any_of(past_.workers.begin(), past_.workers.end(),
                                   [](const LiveWorker& worker) { return worker.leaving; });
  if (progress.epoch < past_.membership.epoch) return JobStage::kForming;
  if (!Missing().empty()) return leaving ? JobStage::kShrinking : JobStage::kStarting;
  const bool joining =
      std::any_of(past_.workers.begin(), past_.workers.end(),
                  [](const LiveWorker& worker) { return worker.state == WorkerState::kStarting; });
  return joining ? JobStage::kJoining : leaving ? JobStage::kShrinking : JobStage::kForming;
}

}  // namespace allot
