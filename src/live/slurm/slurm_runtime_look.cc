// SlurmRuntime's eyes: Slurm's records into a picture of jobs and workers.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "live/slurm/job_request.h"
#include "live/slurm/slurm_runtime.h"

namespace allot {

void SlurmRuntime::SeeNodes(const SlurmPicture& picture, RuntimePicture* seen) {
  for (const SlurmNode& node : picture.nodes) {
    const auto& in = node.partitions;
    if (std::find(in.begin(), in.end(), options_.partition) == in.end()) continue;
    const GresGpus gpus = ParseGres(node.gres);
    if (gpus.count == 0) continue;
    RuntimeNode shown;
    shown.name = node.name;
    shown.gpu_type = gpus.type.empty() ? "gpu" : gpus.type;
    shown.capacity.gpus = gpus.count;
    shown.capacity.cpus = node.cpus;
    if (!node.unknown) node_up_[node.name] = node.up;
    shown.up = node_up_[node.name];
    node_type_[node.name] = shown.gpu_type;
    seen->nodes.push_back(std::move(shown));
  }
}

void SlurmRuntime::SeeHome(const SlurmJob& slurm) {
  const std::optional<JobMark> mark = ParseJobMark(slurm.admin_comment);
  if (!mark && slurm.partition != options_.queue) return;  // somebody else's
  Home home;
  home.slurm = slurm;
  home.marked = mark.has_value();
  home.mark = mark.value_or(JobMark{.job = JobName(slurm.id, slurm.submit)});
  RuntimeJob& job = home.job;
  job.id = home.mark.job;
  job.user = slurm.user;
  job.name = slurm.name;
  job.submit = SubmitTimeOf(job.id);
  job.comment = slurm.comment;
  job.priority = -slurm.nice;
  if (slurm.deadline > 0) job.deadline = static_cast<double>(slurm.deadline);
  if (slurm.time_limit < 0x7fffffff) job.time_limit = 60.0 * slurm.time_limit;
  try {
    ReadRequest(slurm, &job);
    if (!slurm.waits.empty() && slurm.state == SlurmState::kPending && !home.marked) {
      job.state = JobState::kHeld;
      job.reason = slurm.waits;
    }
  } catch (const Error& error) {
    job.state = JobState::kHeld;
    job.reason = error.what();
    job.min_gpus = job.max_gpus = job.requested = 1;
    if (slurm.state == SlurmState::kPending) TellUser(home);
  }
  if (slurm.held && !home.mark.stopping) {
    job.state = JobState::kHeld;
    job.reason = "held by its user or an administrator";
  }
  const auto failure = failures_.find(job.id);
  if (hub_.finished(job.id)) {
    job.state = JobState::kFinished;
  } else if (failure != failures_.end() || home.mark.failed) {
    job.state = JobState::kFailed;
    job.reason = failure != failures_.end() ? failure->second : "given up by an earlier daemon";
  } else if (slurm.over()) {
    job.state = slurm.state == SlurmState::kCompleted   ? JobState::kFinished
                : slurm.state == SlurmState::kCancelled ? JobState::kCancelled
                                                        : JobState::kFailed;
    job.reason = slurm.reason;
  }
  homes_.insert_or_assign(job.id, std::move(home));
}

// Where `scontrol show job` shows it, once.
void SlurmRuntime::TellUser(const Home& home) {
  const std::string text = "allot does not place this job: " + home.job.reason;
  if (home.slurm.admin_comment == text || told_[home.slurm.id] == text) return;
  told_[home.slurm.id] = text;
  const Status done = client_.Change({.id = home.slurm.id, .admin_comment = text});
  if (!done.ok()) spdlog::warn("job {}: {}", home.slurm.id, done.message());
}

void SlurmRuntime::SeeHelper(const Helper& helper, RuntimePicture* seen) {
  const std::string& id = helper.mark.worker;
  if (const auto ended = ended_.find(id); ended != ended_.end()) {
    seen->workers.push_back(ended->second);
    return;
  }
  RuntimeWorker worker;
  worker.id = id;
  worker.job = helper.mark.job;
  worker.node = helper.slurm.nodes;
  worker.gpus = helper.mark.gpus;
  const bool joined = hub_.joined(id);
  if (!helper.slurm.over()) {
    hub_.AddJob(worker.job, TokenOf(worker.job));
    hub_.Expect(worker.job, id);
    alive_.insert(id);
    if (joined) worker.state = WorkerState::kReady;
    worker.silent = hub_.silent(id);
  } else {
    // One that ended well while no daemon looked is taken to have left by an epoch.
    const bool never_joined = alive_.contains(id) && !joined;
    const bool meant = stopped_.contains(id) || helper.slurm.state == SlurmState::kCancelled ||
                       hub_.finished(worker.job);
    worker.state = WorkerState::kEnded;
    worker.failed = !meant && (helper.slurm.state != SlurmState::kCompleted || never_joined);
    worker.reason = helper.slurm.reason;
    if (worker.failed && never_joined) worker.reason += ", before it had joined";
    ended_.emplace(id, worker);
    hub_.RemoveWorker(id);
  }
  seen->workers.push_back(std::move(worker));
}

void SlurmRuntime::SeeShares(Home& home, RuntimePicture* seen) {
  // Requeued, and nothing of it is left on its nodes: it waits again where jobs wait.
  if (home.mark.stopping && home.slurm.state == SlurmState::kPending && !home.slurm.completing) {
    const Status done = GiveBack(home);
    if (!done.ok()) spdlog::warn("job {}: {}", home.job.id, done.message());
  }
  for (const ShareMark& share : home.mark.shares) {
    RuntimeWorker worker;
    worker.id = share.worker;
    worker.job = home.job.id;
    worker.node = share.node;
    worker.gpus = share.gpus;
    worker.reason = home.slurm.reason;
    if (home.slurm.over()) {
      worker.state = WorkerState::kEnded;
      worker.failed = home.slurm.state == SlurmState::kFailed;
    } else if (home.slurm.state == SlurmState::kRunning) {
      worker.state = WorkerState::kReady;
    }
    seen->workers.push_back(std::move(worker));
  }
}

// A controller that was restarted takes some seconds to learn its nodes. Slurm 22.05 keeps GPUs in
// its books for ever that it gives to a job before: nothing is started until then.
SlurmPicture SlurmRuntime::LookOrGoBlind() {
  constexpr Seconds kSettling = 5;
  const Seconds now = Monotonic();
  try {
    SlurmPicture picture = client_.Look();
    const bool learning = std::any_of(picture.nodes.begin(), picture.nodes.end(),
                                      [](const SlurmNode& node) { return node.unknown; });
    if (std::exchange(blind_, false)) settled_at_ = now + kSettling;
    if (learning) settled_at_ = std::max(settled_at_, now + 1);
    return picture;
  } catch (const Error&) {
    blind_ = true;
    throw;
  }
}

RuntimePicture SlurmRuntime::Look() {
  const SlurmPicture picture = LookOrGoBlind();
  RuntimePicture seen;
  SeeNodes(picture, &seen);
  homes_.clear();
  helpers_.clear();
  std::vector<Helper> helpers;
  for (const SlurmJob& slurm : picture.jobs) {
    const std::optional<WorkerMark> mark = ParseWorkerMark(slurm.comment);
    if (mark && slurm.partition == options_.partition) {
      helpers.push_back({slurm, *mark});
    } else {
      SeeHome(slurm);
    }
  }
  for (auto& [id, home] : homes_) {
    if (forgotten_.contains(id)) continue;
    SeeShares(home, &seen);
    seen.jobs.push_back(home.job);
  }
  for (Helper& helper : helpers) {
    const auto home = homes_.find(helper.mark.job);
    if (home == homes_.end()) {
      if (!helper.slurm.over()) (void)client_.Cancel(helper.slurm.id);  // outlived its job
      continue;
    }
    if (home->second.slurm.user_id != helper.slurm.user_id) continue;  // nobody works for another
    if (forgotten_.contains(home->first)) continue;
    SeeHelper(helper, &seen);
    helpers_.insert_or_assign(helper.mark.worker, std::move(helper));
  }
  looked_ = true;
  return seen;
}

}  // namespace allot
