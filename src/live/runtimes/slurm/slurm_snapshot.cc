// SlurmRuntime reads Slurm: its records become a snapshot of nodes, jobs and workers. Jobs of
// users: slurm_user_jobs.cc.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "clients/slurm/resources.h"
#include "core/error.h"
#include "live/runtimes/slurm/array_tasks.h"
#include "live/runtimes/slurm/foreign_gpus.h"
#include "live/runtimes/slurm/slurm_runtime.h"
#include "live/runtimes/worker_end.h"

namespace allot {
namespace {

WorkerExit ExitOf(SlurmState state) {
  return state == SlurmState::kCompleted   ? WorkerExit::kSuccess
         : state == SlurmState::kCancelled ? WorkerExit::kCancelled
                                           : WorkerExit::kFailure;
}

double BeganOf(const SlurmJob& slurm) {
  return slurm.start > 0 ? static_cast<double>(slurm.start) : kUnknown;
}

// "": it does not wait.
std::string PendingReason(const SlurmJob& slurm) {
  return slurm.pending == kNoReason ? kNoWord : slurm.pending;
}

}  // namespace

JobNodes SlurmRuntime::ReadNodes(const SlurmSnapshot& snapshot, RuntimeSnapshot* seen) {
  const ForeignGpus foreign(snapshot);
  std::vector<NodeOffer> all;
  for (const SlurmNode& node : snapshot.nodes) {
    const auto& in = node.partitions;
    if (std::find(in.begin(), in.end(), options_.partition) == in.end()) continue;
    if (!node.state.IsUnknown()) {
      node_up_[node.name] = {node.state.IsUsableNow(), node.state.IsDrained()};
    }
    const std::vector<SlurmGpuType> types = GpuTypesOfGres(node.gres);
    for (const SlurmGpuType& gpus : types) {
      const bool whole = types.size() == 1;
      RuntimeNode shown;
      shown.name = whole ? node.name : fmt::format("{}:{}", node.name, gpus.name);
      if (!gpus.name.empty()) shown.gpu_type = gpus.name;
      shown.capacity.gpus = gpus.count;
      shown.capacity.cpus = node.cpus;
      shown.up = node_up_[node.name].up;
      shown.drained = node_up_[node.name].drained;
      shown.taken = foreign.TakenOf(node, gpus);
      parts_[shown.name] = {node.name, gpus.name, whole};
      all.push_back({shown.name, shown.gpu_type, gpus.count, &node});
      seen->nodes.push_back(std::move(shown));
    }
  }
  return JobNodes(std::move(all));
}

// Some tasks become jobs of their own, ahead of decisions about them.
void SlurmRuntime::SplitArrays(const SlurmSnapshot& snapshot, const SlurmJobs& arrays) {
  for (auto& [array, tasks] : TasksToSplit(snapshot.jobs, arrays)) {
    chores_.Add(SlurmChore::kSplit, array,
                [this, tasks = std::move(tasks)] { return client_.Split(tasks, options_.queue); });
  }
}

// The daemon's name of GPUs that Slurm has given.
std::string SlurmRuntime::PartOn(const std::string& node, const std::string& gpu_type) const {
  const std::string part = fmt::format("{}:{}", node, gpu_type);
  return parts_.contains(part) ? part : node;
}

void SlurmRuntime::ReadWorkerJob(const UserJob& user_job, const WorkerJob& worker_job,
                                 RuntimeSnapshot* seen) {
  const std::string& id = worker_job.tag.worker;
  if (const auto ended = ended_.find(id); ended != ended_.end()) {
    seen->workers.push_back(ended->second);
    return;
  }
  RuntimeWorker worker;
  worker.id = id;
  worker.job = worker_job.tag.job;
  const std::vector<SlurmGpuType> given = GpuTypesOfGres(worker_job.slurm->gpus);
  worker.node = PartOn(worker_job.slurm->nodes, given.empty() ? "" : given.front().name);
  worker.gpus = worker_job.tag.gpus;
  if (!worker_job.slurm->over()) {
    hub_.AddJob(worker.job, TokenOf(worker.job));
    hub_.Expect(worker.job, id);
    watched_.insert(id);
    if (hub_.joined(id)) worker.state = WorkerState::kReady;
    worker.silent = hub_.silent(id);
    worker.began = BeganOf(*worker_job.slurm);
    worker.waits = PendingReason(*worker_job.slurm);
    worker.elsewhere = worker_job.slurm->elsewhere;
    // Without the job's script it has no program: a limit or a licence holds that up.
    if (worker.state == WorkerState::kStarting && worker.waits.empty() &&
        !user_job.slurm->pending.empty()) {
      worker.waits = PendingReason(*user_job.slurm);
      worker.elsewhere = false;
    }
  } else {
    const WorkerVerdict verdict =
        JudgeWorkerEnd({.mode = ResizeMode::kHot,
                        .exit = ExitOf(worker_job.slurm->state),
                        .job_over = hub_.finished(worker.job) || user_job.ended_otherwise(),
                        .stopped = stopped_.contains(id),
                        .watched = watched_.contains(id),
                        .joined = hub_.joined(id),
                        .announced = hub_.announced(worker.job),
                        .member = hub_.member(id)});
    SetEnded(verdict, worker_job.slurm->reason, &worker);
    ended_.emplace(id, worker);
    hub_.RemoveWorker(id);
  }
  seen->workers.push_back(std::move(worker));
}

// The time that a job's script waits for GPUs is not its own (idle_times.h).
void SlurmRuntime::LengthenTimes(const std::vector<WorkerJob>& worker_jobs) {
  std::set<std::string> working;
  for (const WorkerJob& worker_job : worker_jobs) {
    if (worker_job.slurm->state == SlurmState::kRunning) working.insert(worker_job.tag.job);
  }
  std::map<std::string, bool> idle;
  for (const auto& [id, user_job] : user_jobs_) {
    if (user_job.job->mode == ResizeMode::kHot && user_job.job->time_limit < kNever &&
        user_job.slurm->state == SlurmState::kRunning) {
      idle[id] = !working.contains(id);
    }
  }
  for (const auto& [id, minutes] : idle_.Due(idle, Monotonic())) {
    const SlurmJob& slurm = *user_jobs_.at(id).slurm;
    const std::uint32_t limit = slurm.time_limit + minutes;
    chores_.Add(SlurmChore::kLengthen, slurm.id,
                [this, id = slurm.id, limit, job = id, minutes = minutes] {
                  Status done = client_.Change({.id = id, .time_limit = limit});
                  if (done.ok()) idle_.Raised(job, minutes);
                  return done;
                });
  }
}

// Requeued, and nothing of them is left on their nodes: they wait again where jobs wait.
void SlurmRuntime::GiveBackRequeued() {
  for (auto& [id, user_job] : user_jobs_) {
    if (!user_job.tag.stopping || user_job.slurm->state != SlurmState::kPending ||
        user_job.slurm->completing || forgotten_.contains(id)) {
      continue;
    }
    chores_.Add(SlurmChore::kGiveBack, user_job.slurm->id,
                [this, &job = user_job] { return GiveBack(job); });
  }
}

// Keeps those that work for a job that is there.
void SlurmRuntime::EndStrays(std::vector<WorkerJob>* worker_jobs) {
  std::erase_if(*worker_jobs, [this](const WorkerJob& worker_job) {
    const SlurmJob& slurm = *worker_job.slurm;
    const auto found = user_jobs_.find(worker_job.tag.job);
    const bool outlived = found == user_jobs_.end();
    if (!outlived && (found->second.slurm->user_id != slurm.user_id ||
                      found->second.slurm->id != worker_job.tag.user_job)) {
      return true;  // nobody works for another
    }
    if (!outlived && !forgotten_.contains(found->first)) return false;
    // A controller that was killed may have forgotten its end: it counts GPUs that nobody uses.
    if (!slurm.ended && !slurm.completing) {
      chores_.Add(SlurmChore::kEnd, slurm.id,
                  [this, name = slurm.known_as()] { return client_.Cancel(name); });
    }
    return true;
  });
}

// Of what Slurm no longer lists nothing is kept, however many jobs were.
void SlurmRuntime::DropMemories(const std::set<std::string>& workers) {
  const auto no_worker = [&](const std::string& worker) { return !workers.contains(worker); };
  std::erase_if(watched_, no_worker);
  std::erase_if(stopped_, no_worker);
  std::erase_if(ended_, [&](const auto& entry) { return no_worker(entry.first); });
  notes_.Drop([this](const std::string& id) { return user_jobs_.contains(id); });
  const auto no_job = [&](const auto& entry) { return !user_jobs_.contains(entry.first); };
  std::erase_if(forgotten_, [this](const std::string& id) { return !user_jobs_.contains(id); });
  std::erase_if(requeued_, no_job);
  std::erase_if(failures_, no_job);
  std::erase_if(tokens_, [&](const auto& entry) {
    if (!no_job(entry)) return false;
    hub_.RemoveJob(entry.first);
    return true;
  });
}

std::size_t SlurmRuntime::remembered() const {
  return watched_.size() + stopped_.size() + ended_.size() + notes_.size() + forgotten_.size() +
         requeued_.size() + failures_.size() + tokens_.size() + chores_.refused();
}

void SlurmRuntime::ReadShares(const UserJob& user_job, RuntimeSnapshot* seen) {
  for (const ShareTag& share : user_job.tag.shares) {
    RuntimeWorker worker;
    worker.id = share.worker;
    worker.job = user_job.job->id;
    worker.node = share.node;
    worker.gpus = share.gpus;
    worker.reason = user_job.slurm->reason;
    worker.began = BeganOf(*user_job.slurm);
    if (user_job.slurm->over()) {
      // The shares are the job itself: they are stopped by a requeue, which does not end it.
      SetEnded(JudgeWorkerEnd({.mode = ResizeMode::kRestart,
                               .exit = ExitOf(user_job.slurm->state),
                               .job_over = user_job.ended_otherwise()}),
               user_job.slurm->reason, &worker);
    } else if (user_job.slurm->state == SlurmState::kRunning || user_job.slurm->ended) {
      worker.state = WorkerState::kReady;  // also while its node is not done with its end
    }
    // One that is requeued does not wait for anything of Slurm's: that is our own hold.
    if (!user_job.tag.stopping) worker.waits = PendingReason(*user_job.slurm);
    worker.elsewhere = user_job.slurm->elsewhere;
    seen->workers.push_back(std::move(worker));
  }
}

// A controller that was restarted takes some seconds to learn its nodes. If it gives GPUs to a job
// before, Slurm 22.05 counts them as used for ever. So nothing is started until then.
const SlurmSnapshot& SlurmRuntime::TakeSlurmSnapshot() {
  constexpr Seconds kSettling = 5;
  const Seconds now = Monotonic();
  // Who is no longer in charge decides nothing and writes nothing down.
  if (const Status may = MayAct(); !may.ok()) throw RunError("{}", may.message());
  try {
    const SlurmSnapshot& snapshot = client_.TakeSnapshot();
    const bool learning = std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(),
                                      [](const SlurmNode& node) { return node.state.IsUnknown(); });
    if (std::exchange(unreachable_, false)) settled_at_ = now + kSettling;
    if (learning) settled_at_ = std::max(settled_at_, now + 1);
    return snapshot;
  } catch (const Error&) {
    unreachable_ = true;
    throw;
  }
}

RuntimeSnapshot SlurmRuntime::TakeSnapshot() {
  const SlurmSnapshot& snapshot = TakeSlurmSnapshot();
  RuntimeSnapshot seen;
  Reading reading{ReadNodes(snapshot, &seen), TasksBeyondLimit(snapshot.jobs, options_.queue), {}};
  ++looks_;
  if (std::vector<NodeKind> kinds = reading.nodes.Kinds(); kinds != kinds_) {
    kinds_ = std::move(kinds);
    by_number_.clear();  // all are read again
  }
  if (gpu_limits_.Read(snapshot)) by_number_.clear();
  worker_jobs_.clear();
  std::vector<WorkerJob> worker_jobs;
  std::set<std::string> workers;
  for (const auto& record : snapshot.jobs) {
    const std::optional<WorkerTag> tag = ParseWorkerTag(record->admin_comment);
    if (tag) {
      worker_jobs.push_back({record, *tag});
      workers.insert(tag->worker);
    } else {
      ReadUserJob(record, &reading);
    }
  }
  DropUnlisted();
  SplitArrays(snapshot, reading.arrays);
  seen.limits = gpu_limits_.shared();
  seen.more = !reading.arrays.empty();
  GiveBackRequeued();
  EndStrays(&worker_jobs);
  LengthenTimes(worker_jobs);
  if (options_.dry_run) {
    chores_.Drop();
  } else {
    chores_.Do();
  }
  seen.jobs.reserve(user_jobs_.size());
  for (const auto& [id, user_job] : user_jobs_) {
    if (forgotten_.contains(id)) continue;
    ReadShares(user_job, &seen);
    seen.jobs.push_back(user_job.job);
  }
  for (WorkerJob& worker_job : worker_jobs) {
    ReadWorkerJob(user_jobs_.at(worker_job.tag.job), worker_job, &seen);
    worker_jobs_.insert_or_assign(worker_job.tag.worker, std::move(worker_job));
  }
  DropMemories(workers);
  has_snapshot_ = true;
  return seen;
}

}  // namespace allot
