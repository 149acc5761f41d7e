// LiveCluster's eyes: pictures of the runtime into the state.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "live/live_cluster.h"

namespace allot {
namespace {

constexpr Seconds kAccountEvery = 30;  // service of jobs into the journal

}  // namespace

bool LiveCluster::PollRuntime() {
  ++counts_.polls;
  RuntimeSnapshot snapshot;
  try {
    snapshot = runtime_.TakeSnapshot();
  } catch (const Error& error) {
    ++counts_.failed_polls;
    if (unreachable_reason_ != error.what()) {
      spdlog::warn("the runtime cannot be asked, nothing is changed until it can: {}",
                   error.what());
    }
    unreachable_reason_ = error.what();
    return false;
  }
  if (!unreachable_reason_.empty()) spdlog::info("the runtime answers again");
  unreachable_reason_.clear();
  const Seconds before = polled_at_;
  polled_at_ = clock_.Now();
  more_ = snapshot.more;
  bool event = UpdateNodes(snapshot);
  event = UpdateJobs(snapshot) || event;
  UpdateWorkers(snapshot);
  if (!polled_ && !options_.dry_run) AnnounceAgain();
  polled_ = true;
  event = ReleaseDownNodes() || event;
  Measure(before);
  if (!options_.dry_run) Advance();
  return event;
}

bool LiveCluster::UpdateNodes(const RuntimeSnapshot& snapshot) {
  const auto same = [](const RuntimeNode& a, const RuntimeNode& b) {
    return a.name == b.name && a.up == b.up;
  };
  if (std::equal(snapshot.nodes.begin(), snapshot.nodes.end(), state_.nodes().begin(),
                 state_.nodes().end(), same)) {
    return false;
  }
  for (const RuntimeNode& node : snapshot.nodes) {
    const NodeIndex known = state_.NodeOf(node.name);
    if (known >= 0 && state_.nodes()[At(known)].up != node.up) {
      spdlog::info("node {} is {}", node.name, node.up ? "up" : "down");
    }
  }
  // One that the runtime no longer names is down.
  std::vector<RuntimeNode> nodes = snapshot.nodes;
  for (const RuntimeNode& known : state_.nodes()) {
    const bool named = std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(),
                                   [&](const RuntimeNode& n) { return n.name == known.name; });
    if (named) continue;
    nodes.push_back(known);
    nodes.back().up = false;
  }
  Write("nodes", record::Nodes(nodes));
  return true;
}

bool LiveCluster::UpdateJobs(const RuntimeSnapshot& snapshot) {
  bool event = false;
  std::set<std::string> listed;
  // In order of submission, so that indices are.
  std::vector<const RuntimeJob*> jobs;
  for (const RuntimeJob& job : snapshot.jobs) jobs.push_back(&job);
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const RuntimeJob* a, const RuntimeJob* b) { return a->submit < b->submit; });
  for (const RuntimeJob* seen : jobs) {
    listed.insert(seen->id);
    const bool over = seen->state != JobState::kActive && seen->state != JobState::kHeld;
    LiveJob* job = state_.job_table().Find(seen->id);
    if (job == nullptr) {
      if (over) {  // of the time before the journal
        runtime_.Forget(seen->id);
        continue;
      }
      const Seconds submit = std::clamp(seen->submit - clock_.origin(), 0.0, clock_.Now());
      const Seconds deadline = seen->deadline == kNever ? kNever : seen->deadline - clock_.origin();
      JournalRecord asked = record::Job(*seen, submit, deadline);
      asked["profile"] = state_.job_table().ProfileOf(seen->model);
      Write("job", std::move(asked));
      job = state_.job_table().Find(seen->id);
      event = true;
      if (job->fits) {
        spdlog::info("job {} of {}: {} to {} GPUs, model '{}'", seen->id, seen->user,
                     seen->min_gpus, seen->max_gpus, seen->model);
      } else {
        spdlog::warn("job {} waits for a larger cluster: it asks for {} GPUs, no GPU type has them",
                     seen->id, seen->requested);
      }
    }
    if (job->over) {
      if (job->worker_group.idle()) runtime_.Forget(seen->id);
      continue;
    }
    job->asked.priority = seen->priority;
    if (over) {
      End(*job, seen->state, seen->reason);
      event = true;
    } else if (job->asked.state != seen->state) {
      job->asked.state = seen->state;
      if (seen->state == JobState::kHeld && job->running >= 0) {
        Write("take", {{"job", seen->id}, {"why", "it is held"}});
      }
      event = true;
    }
  }
  const std::vector<LiveJob*> active = state_.job_table().active();
  for (LiveJob* job : active) {
    if (job->over || listed.contains(job->asked.id)) continue;
    End(*job, JobState::kCancelled, "the runtime no longer lists it");
    event = true;
  }
  return event;
}

void LiveCluster::End(LiveJob& job, JobState state, const std::string& reason) {
  job.progress = runtime_.Progress(job.asked.id);  // its last words
  Write("over", {{"job", job.asked.id},
                 {"state", JobStateName(state)},
                 {"reason", reason},
                 {"step", job.progress.step},
                 {"work", job.progress.work},
                 {"gpu_seconds", job.attained_gpu_seconds},
                 {"run_time", state_.job_table().RunTime(job)}});
  changing_.erase(job.asked.id);
  spdlog::info("job {} {} after {:.1f} s{}{}", job.asked.id, JobStateName(state),
               clock_.Now() - job.submit, reason.empty() ? "" : ": ", reason);
}

void LiveCluster::UpdateWorkers(const RuntimeSnapshot& snapshot) {
  const Seconds now = clock_.Now();
  const auto gone = [&](const std::string& job, const std::string& worker, bool failed,
                        const std::string& reason) {
    Write("gone", {{"job", job},
                   {"worker", worker},
                   {"failed", failed},
                   {"step", state_.job_table().Find(job)->progress.step},
                   {"reason", reason}});
    if (!failed) return;
    ++counts_.workers_failed;
    spdlog::warn("worker {} is lost: {}", worker, reason);
  };
  std::set<std::string> listed;
  for (const RuntimeWorker& seen : snapshot.workers) {
    listed.insert(seen.id);
    LiveJob* job = state_.job_table().Find(seen.job);
    const bool known =
        job != nullptr &&
        std::any_of(job->worker_group.workers().begin(), job->worker_group.workers().end(),
                    [&](const LiveWorker& w) { return w.id == seen.id; });
    if (known && seen.state == WorkerState::kEnded) {
      gone(seen.job, seen.id, seen.failed, seen.reason);
    } else if (known) {
      job->worker_group.Update(seen, now);
    } else if (seen.state != WorkerState::kEnded) {
      // The journal lost its last words, or somebody else's: it may stay where nobody else is.
      const NodeIndex node = state_.NodeOf(seen.node);
      const bool room = node >= 0 && (state_.Held()[At(node)] & seen.gpus) == 0;
      if (job != nullptr && !job->over && room && !options_.dry_run) {
        LiveWorker found{seen.id, node, seen.gpus, seen.state};
        Write("found", record::Workers(seen.job, {found}, state_.nodes()));
        job->worker_group.Update(seen, now);
      } else if (std::find(strangers_.begin(), strangers_.end(), seen.id) == strangers_.end()) {
        spdlog::warn("worker {} belongs to no job that is known, it is ended", seen.id);
        strangers_.push_back(seen.id);
        if (!options_.dry_run) (void)runtime_.Stop(seen.id, StopMode::kKill);
      }
    }
  }
  for (const LiveJob* job : state_.job_table().active()) {
    const std::vector<LiveWorker> workers = job->worker_group.workers();
    for (const LiveWorker& worker : workers) {
      if (listed.contains(worker.id)) continue;
      gone(job->asked.id, worker.id, !worker.leaving, "the runtime no longer lists it");
    }
  }
}

bool LiveCluster::ReleaseDownNodes() {
  bool event = false;
  if (options_.dry_run) return event;
  for (LiveJob* job : state_.job_table().active()) {
    const auto kept = state_.job_table().SharesOn(*job, state_.node_up());
    if (kept.size() == job->shares.size() &&
        std::equal(kept.begin(), kept.end(), job->shares.begin())) {
      continue;
    }
    event = true;
    ++job->record.failures;
    if (kept.empty()) {
      Write("take", {{"job", job->asked.id}, {"why", "its node is down"}});
    } else {
      Write("give", record::Give(job->asked.id, kept, state_.nodes(), "a node of it is down"));
    }
  }
  return event;
}

void LiveCluster::Measure(Seconds before) {
  const bool account = polled_at_ - accounted_ > kAccountEvery;
  if (account) accounted_ = polled_at_;
  for (LiveJob* job : state_.job_table().active()) {
    if (job->over) continue;
    const bool moved =
        state_.job_table().Update(*job, runtime_.Progress(job->asked.id), before, polled_at_);
    if (moved && journal_ != nullptr) {
      const Configuration& c = (*job->table)[job->running];
      const std::string& type = state_.job_table().nominal().types()[At(c.gpu_type)];
      journal_->Append(polled_at_, "rate",
                       {{"job", job->asked.id},
                        {"type", type},
                        {"gpus", c.demand.gpus},
                        {"rate", job->fit.Rate(c.demand.gpus, type)}});
    }
    if (account && journal_ != nullptr && job->attained_gpu_seconds > 0) {
      journal_->Append(polled_at_, "account",
                       {{"job", job->asked.id},
                        {"step", job->progress.step},
                        {"work", job->progress.work},
                        {"gpu_seconds", job->attained_gpu_seconds},
                        {"seconds", job->attained_seconds}});
    }
    const auto changing = changing_.find(job->asked.id);
    if (changing == changing_.end() || !job->worker_group.training(job->progress)) continue;
    const Seconds took = clock_.Now() - changing->second;
    changing_.erase(changing);
    Write("trains", {{"job", job->asked.id},
                     {"epoch", job->worker_group.membership().epoch},
                     {"workers", job->worker_group.workers().size()},
                     {"step", job->progress.step},
                     {"took", took}});
    ++counts_.resizes;
    counts_.resize_seconds += took;
    counts_.last_resize = took;
  }
}

}  // namespace allot
