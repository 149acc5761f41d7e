#include "live/runtimes/slurm/slurm_runtime.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "clients/slurm/resources.h"
#include "core/file.h"
#include "core/strings.h"
#include "core/wall_clock.h"
#include "live/runtimes/slurm/hub_address.h"
#include "live/runtimes/worker_end.h"
#include "live/workers/worker_key.h"

namespace allot {
namespace {

std::string TextIfThere(const std::filesystem::path& file) {
  return std::filesystem::exists(file) ? std::string(Trim(ReadTextFile(file.string()))) : "";
}

OpenedSlurm OpenToServe(const SlurmOptions& options) {
  OpenedSlurm opened = OpenSlurm(options.access);
  const Status may =
      options.dry_run ? Status::Ok() : MayServeThrough(opened, static_cast<unsigned>(::geteuid()));
  if (!may.ok()) throw RunError("slurm: {}", may.message());
  return opened;
}

// All text of users' reaches the worker in its environment; none is part of the script.
constexpr const char* kWorkerScript = "#!/bin/sh\nexec \"$ALLOT_LAUNCHER\" worker\n";

WorkerExit ExitOf(SlurmState state) {
  return state == SlurmState::kCompleted   ? WorkerExit::kSuccess
         : state == SlurmState::kCancelled ? WorkerExit::kCancelled
                                           : WorkerExit::kFailure;
}

// Minutes. Slurm starts nothing whose limit is beyond the beginning of a reservation of its nodes;
// the daemon has workers leave before (live/port/announced_recalls.h).
std::uint32_t LimitBefore(std::time_t reserved_from, std::uint32_t limit) {
  if (reserved_from == 0) return limit;
  constexpr std::time_t kToStart = 60;  // that a start may take
  const std::time_t left = (reserved_from - std::time(nullptr) - kToStart) / 60;
  return static_cast<std::uint32_t>(std::clamp<std::time_t>(left, 1, limit));
}

std::optional<double> BeganOf(const SlurmJob& slurm) {
  return slurm.start > 0 ? std::optional<double>(slurm.start) : std::nullopt;
}

std::optional<PendingStart> PendingOf(const SlurmJob& slurm, PendingCause cause) {
  if (slurm.pending.empty()) return std::nullopt;
  return slurm.pending == kNoReason ? PendingStart{} : PendingStart{cause, slurm.pending};
}

std::optional<PendingStart> PendingOf(const SlurmJob& slurm) {
  return PendingOf(slurm, slurm.elsewhere ? PendingCause::kNodes : PendingCause::kUserLimit);
}

}  // namespace

Seconds SlurmRuntime::Monotonic() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

SlurmRuntime::SlurmRuntime(const SlurmOptions& options)
    : SlurmRuntime(options, OpenToServe(options)) {}

SlurmRuntime::SlurmRuntime(SlurmOptions options, OpenedSlurm slurm)
    : options_(std::move(options)),
      client_(std::move(slurm), options_.dry_run),
      claim_(ClaimCluster()),
      key_(WorkerKey(claim_ == nullptr ? options_.state / "key" : ClusterFile("allot.key"), true)),
      addresses_(HubAddresses(options_.address.empty() || options_.address.starts_with(':')
                                  ? client_.ControllerAddress() + options_.address
                                  : options_.address)),
      hub_(HubAddress()),
      user_jobs_(options_, {client_, chores_, notes_, nodes_, hub_}) {
  spdlog::info("Slurm through {}", client_.way());
  client_.WriteOnlyIf([this] { return MayAct(); });
  // The address that workers were given is to stay ours when the daemon is started again, also
  // where it has lost its state folder.
  WriteTextFile(options_.state / "address", hub_.address() + "\n");
  if (claim_ != nullptr) WriteTextFile(ClusterFile("allot.address"), hub_.address() + "\n");
}

// In the folder that a cluster has once, and that only SlurmUser and root may write. Nothing else
// begins before: a standby neither listens nor asks Slurm for jobs.
std::unique_ptr<ClusterClaim> SlurmRuntime::ClaimCluster() {
  if (options_.dry_run) return nullptr;
  const std::filesystem::path folder = client_.StateFolder();
  if (ClusterClaim::MayBeIn(folder)) {
    const Status open = ClusterClaim::MayOpenAllIn(folder);
    if (!open.ok()) throw RunError("slurm: {}; chown it, or serve as that user", open.message());
    return std::make_unique<ClusterClaim>(folder, options_.standby, ClusterClaim::kTiming,
                                          options_.on_wait);
  }
  if (options_.standby) {
    throw RunError("--standby: StateSaveLocation '{}' of slurm.conf must be writable from here",
                   folder.string());
  }
  spdlog::warn(
      "a second daemon on this cluster would not be noticed: StateSaveLocation '{}' of slurm.conf "
      "cannot be written from here",
      folder.string());
  return nullptr;
}

std::filesystem::path SlurmRuntime::ClusterFile(const char* name) const {
  return claim_->folder() / name;
}

Status SlurmRuntime::MayAct() const { return claim_ == nullptr ? Status::Ok() : claim_->MayAct(); }

std::string SlurmRuntime::HubAddress() {
  const std::string& first = addresses_.front();
  if (options_.dry_run) return first.substr(0, first.rfind(':')) + ":0";
  if (!first.ends_with(":0")) return FirstFreeAddress(addresses_);
  // What is named now wins over what was named, or chosen, in an earlier run.
  std::string kept = TextIfThere(options_.state / "address");
  if (!kept.empty() && (options_.address.empty() || OfOneHost(kept, first))) return kept;
  std::vector<std::string> tries = addresses_;
  if (claim_ != nullptr) {
    const std::string last = TextIfThere(ClusterFile("allot.address"));
    if (OfOneHost(last, first)) tries.insert(tries.begin(), last);
  }
  return FirstFreeAddress(tries);
}

// From the cluster's key: a state folder that is lost loses none. Jobs that began under an earlier
// version have theirs in a file.
const std::string& SlurmRuntime::TokenOf(const std::string& job) {
  std::string& token = tokens_[job];
  if (!token.empty()) return token;
  token = TextIfThere(TokenFile(job));
  if (token.empty()) token = KeyedDigits(key_, "token of job " + job);
  return token;
}

std::filesystem::path SlurmRuntime::TokenFile(const std::string& job) const {
  return options_.state / "tokens" / job;
}

Status SlurmRuntime::Start(const std::string& job, std::span<const WorkerRequest> workers) {
  SlurmUserJob* const found = user_jobs_.Find(job);
  if (found == nullptr) return Status::Refused("job {} is not known to Slurm", job);
  if (Monotonic() < settled_at_) return Status::Refused("slurmctld is learning its nodes");
  SlurmUserJob& user_job = *found;
  if (user_job.job->state != JobState::kActive) {
    return Status::Refused("job {} must be active to be started, it is not: {}", job,
                           user_job.job->reason);
  }
  const std::vector<std::string>& only = user_job.job->only_on;
  for (const WorkerRequest& worker : workers) {
    if (!nodes_.parts().contains(worker.node)) {
      return Status::Refused("node {} has no GPUs that Slurm knows of", worker.node);
    }
    if (!only.empty() && std::find(only.begin(), only.end(), worker.node) == only.end()) {
      return Status::Refused("job {} may not run on {}: {}", job, worker.node,
                             user_job.job->limits);
    }
  }
  return user_job.job->mode == ResizeMode::kHot ? StartWorkerJobs(user_job, workers)
                                                : StartItself(user_job, workers);
}

Status SlurmRuntime::StartWorkerJobs(SlurmUserJob& user_job,
                                     std::span<const WorkerRequest> workers) {
  const std::string& job = user_job.job->id;
  hub_.AddJob(job, TokenOf(job));
  if (!user_job.placed) {
    Status placed = PlaceScript(user_job);
    if (!placed.ok()) return placed;
  }
  std::vector<std::string> submitted;
  for (const WorkerRequest& worker : workers) {
    if (worker_jobs_.contains(worker.worker)) continue;
    const WorkerTag tag{user_job.slurm->id, job, worker.worker, worker.gpus};
    hub_.Expect(job, worker.worker);
    std::uint32_t id = 0;
    Status done = client_.Submit(WorkerJobOf(user_job, worker, tag), &id);
    if (!done.ok()) {
      for (const std::string& other : submitted) {
        (void)client_.Cancel(worker_jobs_[other].slurm->known_as());
        worker_jobs_.erase(other);
      }
      return done;
    }
    submitted.push_back(worker.worker);
    // Known before the next snapshot shows it: Start and Stop may be called again until then.
    SlurmJob record;
    record.id = id;
    worker_jobs_[worker.worker] = {std::make_shared<const SlurmJob>(std::move(record)), tag};
  }
  return Status::Ok();
}

// The script of an elastic job waits for the end of its workers (ADR 100).
Status SlurmRuntime::PlaceScript(SlurmUserJob& user_job) {
  constexpr std::uint64_t kMemoryMib = 512;
  const bool own_nodes = !options_.home_partition.empty();
  const std::string& partition = own_nodes ? options_.home_partition : options_.partition;
  const bool counted = MemoryIn(partition) != SlurmMemory::kNotCounted;
  JobTag tag = user_job.tag;
  tag.asked = AskedBy(*user_job.slurm);
  Status placed = client_.Change({.id = user_job.slurm->id,
                                  .partition = partition,
                                  .admin_comment = ToText(tag),
                                  .one_core = SlurmOneCore{.memory_mib = counted ? kMemoryMib : 0,
                                                           .any_features = own_nodes}});
  if (!placed.ok()) return placed;
  user_job.tag = std::move(tag);
  user_job.placed = true;
  user_job.tagged = true;
  return placed;
}

std::optional<std::string> SlurmRuntime::WarningOf(
    const std::vector<SlurmPartition>& partitions) const {
  for (const SlurmPartition& one : partitions) {
    if (one.name != options_.queue || !one.up) continue;
    return fmt::format(
        "partition '{0}' is up: Slurm starts waiting jobs past allot; run 'scontrol update "
        "partitionname={0} state=down'",
        one.name);
  }
  return std::nullopt;
}

SlurmMemory SlurmRuntime::MemoryIn(const std::string& partition) const {
  const auto found = std::find_if(partitions_.begin(), partitions_.end(),
                                  [&](const SlurmPartition& one) { return one.name == partition; });
  return found == partitions_.end() ? SlurmMemory::kNotCounted : found->memory;
}

SlurmSubmission SlurmRuntime::WorkerJobOf(const SlurmUserJob& user_job, const WorkerRequest& worker,
                                          const WorkerTag& tag) {
  const SlurmJob& of = *user_job.slurm;
  const NodePart& part = nodes_.parts().at(worker.node);
  const std::string number = worker.worker.substr(worker.worker.rfind('.') + 1);
  SlurmSubmission submission;
  submission.user_id = of.user_id;
  submission.group_id = of.group_id;
  submission.name = fmt::format("w{}-of-{}", number, of.known_as());
  submission.comment = ToText(tag);
  submission.script = kWorkerScript;
  submission.partition = options_.partition;
  submission.node = part.node;
  submission.gres = GresRequest(std::popcount(worker.gpus), part.gpu_type);
  submission.work_dir = of.work_dir;
  submission.output = fmt::format("slurm-{}.{}.out", of.known_as(), number);
  submission.account = of.account;
  submission.qos = of.qos;
  submission.time_limit = LimitBefore(part.reserved_from, of.time_limit);
  submission.cpus_per_task = of.cpus_per_task;
  submission.memory = of.memory;
  if ((of.memory & ~kMemoryPerCpu) == 0 &&
      MemoryIn(options_.partition) == SlurmMemory::kWholeByNone) {
    submission.memory = part.memory_of_gpu * static_cast<std::uint64_t>(std::popcount(worker.gpus));
  }
  submission.environment = {
      "PATH=/usr/local/bin:/usr/bin:/bin",
      "USER=" + of.user,
      "ALLOT_LAUNCHER=" + options_.launcher,
      "ALLOT_JOB_ID=" + user_job.job->id,
      "ALLOT_WORKER_ID=" + worker.worker,
      "ALLOT_DAEMON=" + DaemonVariable(hub_.address(), addresses_),
      "ALLOT_TOKEN=" + TokenOf(user_job.job->id),
      fmt::format("ALLOT_RUN_DIR={}/.allot-{}/{}", of.work_dir, of.user_id, of.id),
      "ALLOT_GPU_TYPE=" + (part.gpu_type.empty() ? "gpu" : part.gpu_type),
      "ALLOT_NODE=" + part.node,
  };
  if (const auto every = hub_.checkpoint_every(user_job.job->id)) {
    submission.environment.push_back(fmt::format("ALLOT_CHECKPOINT_EVERY={:.0f}", *every));
  }
  return submission;
}

Status SlurmRuntime::StartItself(SlurmUserJob& user_job, std::span<const WorkerRequest> workers) {
  if (!user_job.tag.shares.empty()) return Status::Ok();  // was started before
  if (IsSettling(user_job.tag, WallSeconds())) {
    return Status::Refused("job {} must not start within the second of its requeue",
                           user_job.job->id);
  }
  JobTag tag = user_job.tag;
  tag.plan = workers.front().plan;
  for (const WorkerRequest& worker : workers) {
    tag.shares.push_back({worker.worker, worker.node, worker.gpus});
  }
  SlurmChange change{.id = user_job.slurm->id,
                     .partition = options_.partition,
                     .admin_comment = ToText(tag),
                     .first = !options_.slurm_priority};
  Status done = PlaceJob(user_job.job->id, user_job.slurm->gpus, workers, nodes_.parts(), &change);
  if (done.ok()) done = client_.Change(change);
  if (!done.ok()) return done;
  user_job.tag = std::move(tag);
  user_job.tagged = true;
  return done;
}

Status SlurmRuntime::GiveBack(SlurmUserJob& user_job) {
  JobTag tag = user_job.tag;
  tag.shares.clear();
  tag.plan.reset();
  tag.stopping = false;
  const auto requeued = requeued_.find(user_job.job->id);
  const Seconds ago = requeued == requeued_.end() ? 0 : Monotonic() - requeued->second;
  tag.stopped = SecondOfRequeue(WallSeconds() - ago);
  Status done = client_.Change({.id = user_job.slurm->id,
                                .partition = options_.queue,
                                .admin_comment = ToText(tag),
                                .release = true});
  if (!done.ok()) return done;
  user_job.tag = std::move(tag);
  requeued_.erase(user_job.job->id);
  return done;
}

Status SlurmRuntime::Stop(const std::string& worker, StopMode mode) {
  if (Status may = MayAct(); !may.ok()) return may;
  if (const auto found = worker_jobs_.find(worker); found != worker_jobs_.end()) {
    if (found->second.slurm->over()) return Status::Ok();
    stopped_.insert(worker);
    if (mode == StopMode::kSave && hub_.joined(worker)) {
      hub_.Stop(worker);
      return Status::Ok();
    }
    return client_.Cancel(found->second.slurm->known_as());
  }
  for (auto& [id, user_job] : user_jobs_.all()) {
    const auto& shares = user_job.tag.shares;
    // A job that runs though it was to be requeued: whoever wrote that down did not come to do it.
    const bool runs = user_job.slurm->state == SlurmState::kRunning && !user_job.slurm->completing;
    if ((user_job.tag.stopping && !runs) || user_job.slurm->over() || user_job.slurm->ended ||
        std::none_of(shares.begin(), shares.end(),
                     [&](const ShareTag& share) { return share.worker == worker; })) {
      continue;
    }
    if (user_job.slurm->state == SlurmState::kPending && !user_job.slurm->completing)
      return GiveBack(user_job);
    if (!user_job.job->preempt) {
      return Status::Refused("job {} runs and may not be stopped: its user did not say that it may",
                             id);
    }
    JobTag tag = user_job.tag;
    tag.stopping = true;
    Status done = client_.Change({.id = user_job.slurm->id, .admin_comment = ToText(tag)});
    if (done.ok()) done = client_.Requeue(user_job.slurm->id);
    if (!done.ok()) return done;
    user_job.tag = std::move(tag);
    requeued_[id] = Monotonic();
    return done;
  }
  return Status::Ok();
}

Status SlurmRuntime::Announce(const std::string& job, const Membership& membership) {
  if (Status may = MayAct(); !may.ok()) return may;
  return hub_.Announce(job, membership);
}

Status SlurmRuntime::SetBatch(const std::string& job, const WorkerBatchOrder& batch) {
  if (Status may = MayAct(); !may.ok()) return may;
  hub_.SetBatch(job, batch);
  return Status::Ok();
}

Status SlurmRuntime::SetCheckpointEvery(const std::string& job, Seconds every) {
  if (Status may = MayAct(); !may.ok()) return may;
  hub_.SetCheckpointEvery(job, every);
  return Status::Ok();
}

JobProgress SlurmRuntime::Progress(const std::string& job) { return hub_.Progress(job); }

Status SlurmRuntime::Fail(const std::string& job, const std::string& reason) {
  SlurmUserJob* const found = user_jobs_.Find(job);
  if (found == nullptr) return Status::Ok();
  SlurmUserJob& user_job = *found;
  user_jobs_.Fail(job, reason);
  user_job.tag.failed = true;
  user_job.tag.why = reason;
  Status done = client_.Change({.id = user_job.slurm->id, .admin_comment = ToText(user_job.tag)});
  if (done.ok()) done = client_.Cancel(user_job.slurm->known_as());
  return done;
}

Status SlurmRuntime::Cancel(const std::string& job) {
  const SlurmUserJob* const found = user_jobs_.Find(job);
  return found == nullptr ? Status::Ok() : client_.Cancel(found->slurm->known_as());
}

void SlurmRuntime::Forget(const std::string& job) {
  if (!forgotten_.insert(job).second) return;
  hub_.RemoveJob(job);
  user_jobs_.Forget(job);
  requeued_.erase(job);
  tokens_.erase(job);
  std::error_code error;
  std::filesystem::remove(TokenFile(job), error);
}

void SlurmRuntime::Wait(Seconds at_most) {
  if (has_snapshot_) {
    hub_.Serve(at_most);
  } else {
    // Workers of an earlier daemon's would be refused by a hub that does not know them yet.
    std::this_thread::sleep_for(std::chrono::duration<double>(at_most));
  }
}

void SlurmRuntime::Explain(const std::string& job, const std::optional<JobTrouble>& trouble) {
  SlurmUserJob* const found = user_jobs_.Find(job);
  if (found != nullptr && notes_.Explain(job, *found->slurm, trouble ? trouble->why : ""))
    found->noted = false;
}

// ---- snapshots ----

void SlurmRuntime::ReadWorkerJob(const SlurmUserJob& user_job, const WorkerJob& worker_job,
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
  worker.node = nodes_.PartOn(worker_job.slurm->nodes, given.empty() ? "" : given.front().name);
  worker.gpus = worker_job.tag.gpus;
  if (!worker_job.slurm->over()) {
    hub_.AddJob(worker.job, TokenOf(worker.job));
    hub_.Expect(worker.job, id);
    watched_.insert(id);
    if (hub_.joined(id)) worker.state = WorkerState::kReady;
    worker.silent = hub_.silent(id);
    worker.began = BeganOf(*worker_job.slurm);
    worker.pending = PendingOf(*worker_job.slurm);
    // Without the job's script it has no program: a limit or a licence holds that up.
    if (worker.state == WorkerState::kStarting && !worker.pending) {
      worker.pending = PendingOf(*user_job.slurm, PendingCause::kUserLimit);
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
  for (const auto& [id, user_job] : user_jobs_.all()) {
    if (user_job.job->mode == ResizeMode::kHot && user_job.job->time_limit < kNever &&
        user_job.slurm->state == SlurmState::kRunning) {
      idle[id] = !working.contains(id);
    }
  }
  for (const auto& [id, minutes] : idle_.Due(idle, Monotonic())) {
    const SlurmJob& slurm = *user_jobs_.Find(id)->slurm;
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
  for (auto& [id, user_job] : user_jobs_.all()) {
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
    const SlurmUserJob* const user_job = user_jobs_.Find(worker_job.tag.job);
    if (user_job != nullptr && (user_job->slurm->user_id != slurm.user_id ||
                                user_job->slurm->id != worker_job.tag.user_job)) {
      return true;  // nobody works for another
    }
    if (user_job != nullptr && !forgotten_.contains(worker_job.tag.job)) return false;
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
  notes_.Drop([this](const std::string& id) { return user_jobs_.Find(id) != nullptr; });
  const auto no_job = [&](const auto& entry) { return user_jobs_.Find(entry.first) == nullptr; };
  std::erase_if(forgotten_,
                [this](const std::string& id) { return user_jobs_.Find(id) == nullptr; });
  std::erase_if(requeued_, no_job);
  std::erase_if(tokens_, [&](const auto& entry) {
    if (!no_job(entry)) return false;
    hub_.RemoveJob(entry.first);
    return true;
  });
}

std::size_t SlurmRuntime::remembered() const {
  return watched_.size() + stopped_.size() + ended_.size() + notes_.size() + forgotten_.size() +
         requeued_.size() + user_jobs_.remembered() + tokens_.size() + chores_.refused();
}

void SlurmRuntime::ReadShares(const SlurmUserJob& user_job, RuntimeSnapshot* seen) {
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
    if (!user_job.tag.stopping) worker.pending = PendingOf(*user_job.slurm);
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

// Nodes that nobody serves any more are left out.
Status SlurmRuntime::LoadPastOutages(std::vector<PastOutage>* outages) {
  constexpr int kDays = 365;
  std::vector<SlurmNodeEvent> events;
  Status done = client_.NodeEvents(kDays, &events);
  if (!done.ok()) return done;
  for (const SlurmNodeEvent& event : events) {
    if (!event.IsFailure()) continue;
    for (const auto& [name, part] : nodes_.parts()) {
      if (part.node != event.node) continue;
      outages->push_back({name, static_cast<double>(event.begin),
                          event.end ? std::optional<double>(*event.end) : std::nullopt});
    }
  }
  return done;
}

RuntimeSnapshot SlurmRuntime::TakeSnapshot() {
  const SlurmSnapshot& snapshot = TakeSlurmSnapshot();
  RuntimeSnapshot seen;
  partitions_ = snapshot.partitions;
  const SlurmMemory memory = MemoryIn(options_.partition);
  user_jobs_.Begin(snapshot, nodes_.Read(snapshot, options_.partition, memory, &seen), memory);
  worker_jobs_.clear();
  std::vector<WorkerJob> worker_jobs;
  std::set<std::string> workers;
  for (const auto& record : snapshot.jobs) {
    const std::optional<WorkerTag> tag = ParseWorkerTag(record->admin_comment);
    if (tag) {
      worker_jobs.push_back({record, *tag});
      workers.insert(tag->worker);
    } else {
      user_jobs_.Read(record);
    }
  }
  user_jobs_.End(snapshot);
  seen.limits = user_jobs_.limits();
  seen.more = user_jobs_.more();
  seen.warning = WarningOf(snapshot.partitions);
  GiveBackRequeued();
  EndStrays(&worker_jobs);
  LengthenTimes(worker_jobs);
  if (options_.dry_run) {
    chores_.Drop();
  } else {
    chores_.Do();
  }
  seen.jobs.reserve(user_jobs_.all().size());
  for (const auto& [id, user_job] : user_jobs_.all()) {
    if (forgotten_.contains(id)) continue;
    ReadShares(user_job, &seen);
    seen.jobs.push_back(user_job.job);
  }
  for (WorkerJob& worker_job : worker_jobs) {
    ReadWorkerJob(*user_jobs_.Find(worker_job.tag.job), worker_job, &seen);
    worker_jobs_.insert_or_assign(worker_job.tag.worker, std::move(worker_job));
  }
  DropMemories(workers);
  has_snapshot_ = true;
  return seen;
}

namespace {

ALLOT_REGISTER(
    RuntimeInfo,
    (RuntimeInfo{
        .id = "slurm",
        .summary = "jobs that users submit to Slurm, placed and resized through its controller",
        .params = SlurmParams(),
        .make = [](const Params& params, const RuntimeOptions& options) {
          return std::make_unique<SlurmRuntime>(SlurmOptionsFrom(params, options));
        }}));

}  // namespace

}  // namespace allot
