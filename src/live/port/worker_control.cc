#include "live/port/worker_control.h"

#include <spdlog/spdlog.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "core/index.h"

namespace allot {

Status AskRuntime(const std::function<Status()>& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    return Status::Refused("{}", error.what());
  }
}

WorkerControl::WorkerControl(Runtime& runtime, StateWriter& writer, LiveCounts& counts)
    : runtime_(runtime), writer_(writer), state_(writer.state()), counts_(counts) {}

void WorkerControl::Advance() {
  HeldGpus held = state_.Held();
  std::vector<std::pair<const LiveJob*, WorkerAction>> actions;
  const std::vector<const LiveJob*> active = state_.job_table().active();
  for (const LiveJob* job : active) {
    if (job->pinned()) continue;
    (void)TakeLaterEpoch(*job, job->progress.epoch);
    if (unannounced_.contains(job->asked->id)) Announce(*job);
    for (WorkerAction& action : state_.job_table().WorkersOf(*job).Next(
             writer_.now(), job->progress, held, state_.node_up())) {
      WriteDown(*job, action);
      actions.emplace_back(job, std::move(action));
    }
    for (const LiveWorker& worker : job->worker_group.workers()) {
      held[At(worker.node)] |= worker.gpus;
    }
  }
  writer_.Commit();
  for (const auto& [job, action] : actions) Execute(*job, action);
  for (const LiveJob* job : active) {
    if (!job->over || !job->worker_group.idle()) continue;
    const std::string id = job->asked->id;
    unannounced_.erase(id);
    writer_.Write(record::Retire{id});
    runtime_.Forget(id);
  }
}

void WorkerControl::WriteDown(const LiveJob& job, const WorkerAction& action) {
  const std::string& id = job.asked->id;
  switch (action.kind) {
    case WorkerAction::Kind::kStart:
      writer_.Write(record::Start{id, state_.Named(action.start)});
      break;
    case WorkerAction::Kind::kAnnounce:
      writer_.Write(record::Announce{id, action.membership, action.why});
      break;
    case WorkerAction::Kind::kStop:
      writer_.Write(record::Stop{id, action.worker, action.mode, action.fault, job.progress.step,
                                 action.why});
      if (action.fault != StopFault::kStalled) break;
      ++counts_.workers_stalled;
      spdlog::warn("replacing worker {}: {}", action.worker, action.why);
      break;
    case WorkerAction::Kind::kGiveUp:
      writer_.Write(record::GiveUp{id, action.why});
      break;
  }
}

void WorkerControl::Execute(const LiveJob& job, const WorkerAction& action) {
  Status done = Status::Ok();
  switch (action.kind) {
    case WorkerAction::Kind::kStart:
      Start(job, action);
      break;
    case WorkerAction::Kind::kAnnounce:
      ++counts_.epochs;
      Announce(job);
      break;
    case WorkerAction::Kind::kStop:
      done = AskRuntime([&] { return runtime_.Stop(action.worker, action.mode); });
      break;
    case WorkerAction::Kind::kGiveUp:
      done = AskRuntime([&] { return runtime_.Fail(job.asked->id, action.why); });
      break;
  }
  if (!done.ok()) spdlog::warn("job {}: runtime refused: {}", job.asked->id, done.message());
}

void WorkerControl::Start(const LiveJob& job, const WorkerAction& action) {
  const std::string& id = job.asked->id;
  std::vector<WorkerRequest> requests;
  for (const LiveWorker& worker : action.start) {
    requests.push_back({worker.id, state_.nodes()[At(worker.node)].name, worker.gpus, job.plan});
  }
  const Status done = AskRuntime([&] { return runtime_.Start(id, requests); });
  if (done.ok()) {
    state_.job_table().WorkersOf(job).StartAccepted();
    counts_.workers_started += static_cast<std::int64_t>(requests.size());
    return;
  }
  if (job.worker_group.refusal() != done.message()) {
    spdlog::warn("job {}: runtime refused to start workers, will retry: {}", id, done.message());
  }
  record::Refused refused{id, {}, done.message()};
  for (const WorkerRequest& request : requests) refused.workers.push_back(request.worker);
  writer_.Write(std::move(refused));
}

void WorkerControl::Announce(const LiveJob& job) {
  const std::string& id = job.asked->id;
  const Membership& latest = job.worker_group.membership();
  const Status done = AskRuntime([&] { return runtime_.Announce(id, latest); });
  if (done.ok()) {
    unannounced_.erase(id);
  } else if (unannounced_.insert(id).second) {
    spdlog::warn("job {}: runtime refused epoch {}, will retry: {}", id, latest.epoch,
                 done.message());
  }
}

void WorkerControl::RepeatAnnouncements() {
  for (const LiveJob* job : state_.job_table().active()) {
    if (job->over || job->asked->mode != ResizeMode::kHot) continue;
    const std::int64_t known = runtime_.Progress(job->asked->id).epoch;
    if (!TakeLaterEpoch(*job, known) && job->worker_group.membership().epoch >= 0) Announce(*job);
  }
}

// Needed when the journal, or its end, was lost. Workers report their epoch when they join, which
// may be long after the first poll, and ignore earlier epochs.
bool WorkerControl::TakeLaterEpoch(const LiveJob& job, std::int64_t known) {
  if (job.over || known <= job.worker_group.membership().epoch) return false;
  writer_.Write(record::Announce{
      job.asked->id, {known, {}}, "the workers know a later epoch than the journal"});
  return true;
}

}  // namespace allot
