#include "live/live_cluster.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/validate.h"
#include "core/error.h"
#include "core/index.h"
#include "core/interrupt.h"
#include "core/strings.h"

namespace allot {
LiveCluster::LiveCluster(Runtime& runtime, Journal* journal, const LiveClock& clock,
                         LiveOptions options, const std::vector<JournalRecord>& past)
    : runtime_(runtime),
      journal_(journal),
      clock_(clock),
      options_(std::move(options)),
      state_(options_.job_table) {
  for (const JournalRecord& record : past) state_.Apply(record);
  observation_.cluster = &state_.present();
  observation_.interval = options_.interval;
  observation_.share_begin.assign(1, 0);
  observation_.decision = -1;
  polled_at_ = accounted_ = clock_.Now();
}

namespace {

// A runtime that cannot be reached has refused; what it did all the same the next look shows.
Status Ask(const std::function<Status()>& call) {
  try {
    return call();
  } catch (const Error& error) {
    return Status::Refused("{}", error.what());
  }
}

}  // namespace

void LiveCluster::Write(const char* what, JournalRecord fields) {
  const Seconds now = clock_.Now();
  if (journal_ != nullptr) journal_->Append(now, what, fields);
  fields["at"] = now;
  fields["what"] = what;
  state_.Apply(fields);
}

Status LiveCluster::Validate(const Allocation& allocation) const {
  return ValidateAllocation(observation_, allocation);
}

// ---- decisions ----

ApplyReport LiveCluster::Apply(const Allocation& allocation) {
  ApplyReport report;
  if (applied_ == observation_.decision) return report;
  report.refused = Validate(allocation);
  if (!report.refused.ok()) return report;
  applied_ = observation_.decision;

  const auto& jobs = state_.job_table().jobs();
  std::vector<const Allocation::Entry*> entry_of(jobs.size(), nullptr);
  for (const Allocation::Entry& entry : allocation.entries()) entry_of[At(entry.job)] = &entry;
  const std::string why = fmt::format("decision {}", observation_.decision);
  const auto apply = [&](const char* what, JournalRecord record, const std::string& id) {
    if (options_.dry_run) {
      spdlog::info("would {} {}", what, record.dump());
      return;
    }
    Write(what, std::move(record));
    changing_.emplace(id, clock_.Now());
  };
  // Those that give first, so that a crash in between leaves no GPU given twice.
  for (const JobIndex index : observation_.job) {
    const LiveJob& job = *jobs[At(index)];
    if (job.running < 0 || entry_of[At(index)] != nullptr) continue;
    ++report.preempted;
    ++counts_.takes;
    apply("take", {{"job", job.asked.id}, {"why", why}}, job.asked.id);
  }
  for (const JobIndex index : observation_.job) {
    const Allocation::Entry* entry = entry_of[At(index)];
    if (entry == nullptr) continue;
    const LiveJob& job = *jobs[At(index)];
    const auto shares = allocation.shares(*entry);
    const bool same_place =
        std::equal(shares.begin(), shares.end(), job.shares.begin(), job.shares.end());
    if (entry->configuration == job.running && same_place) continue;
    ++(job.running < 0                       ? report.launched
       : entry->configuration != job.running ? report.resized
                                             : report.moved);
    ++counts_.gives;
    apply("give", record::Give(job.asked.id, shares, state_.nodes(), why), job.asked.id);
  }
  if (!options_.dry_run && report.launched + report.preempted + report.resized + report.moved > 0) {
    Write("decide", {{"decision", observation_.decision},
                     {"launched", report.launched},
                     {"preempted", report.preempted},
                     {"resized", report.resized},
                     {"moved", report.moved}});
    Advance();
    Refresh(false);
  }
  return report;
}

void LiveCluster::Pause() { Write("pause", JournalRecord::object()); }

void LiveCluster::Resume() {
  Write("resume", JournalRecord::object());
  event_ = true;
}

void LiveCluster::Drain() {
  Write("drain", JournalRecord::object());
  event_ = true;
}

void LiveCluster::DrainNode(const std::string& node) {
  if (state_.NodeOf(node) < 0) {
    std::vector<std::string> names;
    for (const RuntimeNode& known : state_.nodes()) names.push_back(known.name);
    throw UsageError("unknown node '{}'{}", node, DidYouMean(node, names));
  }
  Write("drain", {{"node", node}});
  event_ = true;
}

void LiveCluster::Cancel(const std::string& job) {
  std::vector<std::string> names;
  for (const LiveJob* known : state_.job_table().active()) names.push_back(known->asked.id);
  if (std::find(names.begin(), names.end(), job) == names.end()) {
    throw UsageError("no job '{}' that waits or runs{}", job, DidYouMean(job, names));
  }
  Write("cancel", {{"job", job}});
  if (journal_ != nullptr) journal_->Commit();
  const Status done = Ask([&] { return runtime_.Cancel(job); });
  if (!done.ok()) throw RunError("{}", done.message());
  event_ = true;
}

// ---- waiting ----

bool LiveCluster::Over() const {
  if (Interrupted()) return true;
  return options_.until_idle && polled_ && !more_ && state_.job_table().active().empty();
}

bool LiveCluster::WaitForJobs() { return WaitForChange(0); }

bool LiveCluster::WaitForChange(Seconds holds_until) {
  const Seconds interval = options_.interval;
  const Seconds begin = clock_.Now();
  const Seconds next = (std::floor(begin / interval) + 1) * interval;
  const Seconds tick =
      holds_until == kNever ? kNever : std::max(next, std::ceil(holds_until / interval) * interval);
  while (!Over()) {
    if (polled_) {
      const Seconds left = tick - clock_.Now();  // gone by where there is nothing to decide
      runtime_.Wait(left > 0 ? std::min(options_.poll, std::max(left, 1e-3)) : options_.poll);
    }
    event_ = PollRuntime() || event_;
    const bool due = (options_.decide_on_events && event_) || clock_.Now() >= tick;
    if (on_poll_) on_poll_();
    if (!due || state_.paused()) continue;
    Refresh(true);
    if (observation_.rows() > 0) {
      event_ = false;
      return true;
    }
  }
  Refresh(false);
  return false;
}

bool LiveCluster::Hidden(const LiveJob& job) const {
  if (job.over || !job.fits || job.asked.state == JobState::kHeld) return true;
  return state_.drained() && job.running < 0;
}

void LiveCluster::Refresh(bool next_decision) {
  observation_.now = std::max(observation_.now, clock_.Now());
  if (next_decision) ++observation_.decision;
  state_.job_table().Observe([this](const LiveJob& job) { return Hidden(job); }, &observation_);
}

// ---- towards what was decided ----

// The runtime may have lost what it was told by an earlier daemon; and the workers may know of a
// later epoch than a journal that was lost.
void LiveCluster::AnnounceAgain() {
  for (LiveJob* job : state_.job_table().active()) {
    if (job->over || job->asked.mode != ResizeMode::kHot) continue;
    const JobProgress progress = runtime_.Progress(job->asked.id);
    const Membership& latest = job->worker_group.membership();
    if (progress.epoch > latest.epoch) {
      Write("announce", {{"job", job->asked.id},
                         {"epoch", progress.epoch},
                         {"members", JournalRecord::array()},
                         {"why", "the workers know a later epoch than the journal"}});
    } else if (latest.epoch >= 0) {
      AnnounceLatest(*job);
    }
  }
}

void LiveCluster::AnnounceLatest(const LiveJob& job) {
  const std::string& id = job.asked.id;
  const Status done = Ask([&] { return runtime_.Announce(id, job.worker_group.membership()); });
  if (done.ok()) {
    unannounced_.erase(id);
  } else if (unannounced_.insert(id).second) {
    spdlog::warn("job {}: the runtime refuses epoch {}, it is asked again: {}", id,
                 job.worker_group.membership().epoch, done.message());
  }
}

void LiveCluster::Advance() {
  HeldGpus held = state_.Held();
  std::vector<std::pair<LiveJob*, WorkerAction>> actions;
  const std::vector<LiveJob*> active = state_.job_table().active();
  for (LiveJob* job : active) {
    if (unannounced_.contains(job->asked.id)) AnnounceLatest(*job);
    for (WorkerAction& action :
         job->worker_group.Next(clock_.Now(), job->progress, held, state_.node_up())) {
      WriteDown(*job, action);
      actions.emplace_back(job, std::move(action));
    }
    for (const LiveWorker& worker : job->worker_group.workers())
      held[At(worker.node)] |= worker.gpus;
  }
  if (journal_ != nullptr) journal_->Commit();
  for (const auto& [job, action] : actions) Do(*job, action);
  for (const LiveJob* job : active) {
    if (!job->over || !job->worker_group.idle()) continue;
    const std::string id = job->asked.id;
    Write("retire", {{"job", id}});
    runtime_.Forget(id);
  }
}

void LiveCluster::WriteDown(const LiveJob& job, const WorkerAction& action) {
  const std::string& id = job.asked.id;
  switch (action.kind) {
    case WorkerAction::Kind::kStart:
      Write("start", record::Workers(id, action.start, state_.nodes()));
      break;
    case WorkerAction::Kind::kAnnounce:
      Write("announce", {{"job", id},
                         {"epoch", action.membership.epoch},
                         {"members", action.membership.members},
                         {"why", action.why}});
      break;
    case WorkerAction::Kind::kStop:
      Write("stop", {{"job", id},
                     {"worker", action.worker},
                     {"kill", action.mode == StopMode::kKill},
                     {"why", action.why}});
      break;
    case WorkerAction::Kind::kGiveUp:
      Write("give up", {{"job", id}, {"why", action.why}});
      break;
  }
}

void LiveCluster::Do(LiveJob& job, const WorkerAction& action) {
  const std::string& id = job.asked.id;
  Status done = Status::Ok();
  switch (action.kind) {
    case WorkerAction::Kind::kStart: {
      std::vector<WorkerRequest> requests;
      for (const LiveWorker& worker : action.start) {
        requests.push_back({worker.id, state_.nodes()[At(worker.node)].name, worker.gpus});
      }
      done = Ask([&] { return runtime_.Start(id, requests); });
      if (done.ok()) {
        job.worker_group.StartAccepted();
        counts_.workers_started += static_cast<std::int64_t>(requests.size());
        return;
      }
      JournalRecord workers = JournalRecord::array();
      for (const WorkerRequest& request : requests) workers.push_back(request.worker);
      Write("refused", {{"job", id}, {"workers", std::move(workers)}, {"why", done.message()}});
      break;
    }
    case WorkerAction::Kind::kAnnounce:
      ++counts_.epochs;
      AnnounceLatest(job);
      break;
    case WorkerAction::Kind::kStop:
      done = Ask([&] { return runtime_.Stop(action.worker, action.mode); });
      break;
    case WorkerAction::Kind::kGiveUp:
      done = Ask([&] { return runtime_.Fail(id, action.why); });
      break;
  }
  if (!done.ok()) spdlog::warn("job {}: the runtime refuses: {}", id, done.message());
}

void LiveCluster::StopAllJobs(Seconds at_most) {
  Pause();
  const std::vector<LiveJob*> active = state_.job_table().active();
  for (const LiveJob* job : active) {
    if (job->running >= 0) Write("take", {{"job", job->asked.id}, {"why", "the daemon ends"}});
  }
  const Seconds begin = clock_.Now();
  while (clock_.Now() - begin < at_most) {
    PollRuntime();
    const HeldGpus held = state_.Held();
    if (std::all_of(held.begin(), held.end(), [](std::uint64_t gpus) { return gpus == 0; })) return;
    runtime_.Wait(options_.poll);
  }
}

}  // namespace allot
