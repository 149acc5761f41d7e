#include "live/runtimes/slurm/slurm_runtime.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <ctime>
#include <thread>
#include <utility>

#include "clients/slurm/resources.h"
#include "core/file.h"
#include "core/strings.h"
#include "live/runtimes/slurm/hub_address.h"
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
      addresses_(
          HubAddresses(options_.address.empty() ? client_.ControllerAddress() : options_.address)),
      hub_(HubAddress()),
      gpu_limits_(options_.partition) {
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
  const auto found = user_jobs_.find(job);
  if (found == user_jobs_.end()) return Status::Refused("job {} is not known to Slurm", job);
  if (Monotonic() < settled_at_) return Status::Refused("slurmctld is learning its nodes");
  UserJob& user_job = found->second;
  if (user_job.job->state != JobState::kActive) {
    return Status::Refused("job {} must be active to be started, it is not: {}", job,
                           user_job.job->reason);
  }
  const std::vector<std::string>& only = user_job.job->only_on;
  for (const WorkerRequest& worker : workers) {
    if (!parts_.contains(worker.node)) {
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

Status SlurmRuntime::StartWorkerJobs(UserJob& user_job, std::span<const WorkerRequest> workers) {
  const std::string& job = user_job.job->id;
  hub_.AddJob(job, TokenOf(job));
  if (!user_job.placed) {
    Status placed = client_.Change({.id = user_job.slurm->id,
                                    .partition = options_.partition,
                                    .admin_comment = ToText(user_job.tag)});
    if (!placed.ok()) return placed;
    user_job.placed = true;
    user_job.tagged = true;
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

SlurmSubmission SlurmRuntime::WorkerJobOf(const UserJob& user_job, const WorkerRequest& worker,
                                          const WorkerTag& tag) {
  const SlurmJob& of = *user_job.slurm;
  const NodePart& part = parts_.at(worker.node);
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
  submission.time_limit = of.time_limit;
  submission.cpus_per_task = of.cpus_per_task;
  submission.memory = of.memory;
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
  return submission;
}

Status SlurmRuntime::StartItself(UserJob& user_job, std::span<const WorkerRequest> workers) {
  if (!user_job.tag.shares.empty()) return Status::Ok();  // was started before
  if (IsSettling(user_job.tag, std::time(nullptr))) {
    return Status::Refused("job {} must have been requeued for {} s", user_job.job->id,
                           kAfterRequeue);
  }
  JobTag tag = user_job.tag;
  for (const WorkerRequest& worker : workers) {
    tag.shares.push_back({worker.worker, worker.node, worker.gpus});
  }
  SlurmChange change{.id = user_job.slurm->id,
                     .partition = options_.partition,
                     .admin_comment = ToText(tag),
                     .first = !options_.slurm_priority};
  Status done = PlaceJob(user_job.job->id, user_job.slurm->gpus, workers, parts_, &change);
  if (done.ok()) done = client_.Change(change);
  if (!done.ok()) return done;
  user_job.tag = std::move(tag);
  user_job.tagged = true;
  return done;
}

Status SlurmRuntime::GiveBack(UserJob& user_job) {
  JobTag tag = user_job.tag;
  tag.shares.clear();
  tag.stopping = false;
  const auto requeued = requeued_.find(user_job.job->id);
  const Seconds ago = requeued == requeued_.end() ? 0 : Monotonic() - requeued->second;
  tag.stopped = std::time(nullptr) - static_cast<long long>(ago);
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
  for (auto& [id, user_job] : user_jobs_) {
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

JobProgress SlurmRuntime::Progress(const std::string& job) { return hub_.Progress(job); }

Status SlurmRuntime::Fail(const std::string& job, const std::string& reason) {
  const auto found = user_jobs_.find(job);
  if (found == user_jobs_.end()) return Status::Ok();
  UserJob& user_job = found->second;
  failures_[job] = reason;
  user_job.tag.failed = true;
  user_job.tag.why = reason;
  Status done = client_.Change({.id = user_job.slurm->id, .admin_comment = ToText(user_job.tag)});
  if (done.ok()) done = client_.Cancel(user_job.slurm->known_as());
  return done;
}

Status SlurmRuntime::Cancel(const std::string& job) {
  const auto found = user_jobs_.find(job);
  return found == user_jobs_.end() ? Status::Ok() : client_.Cancel(found->second.slurm->known_as());
}

void SlurmRuntime::Forget(const std::string& job) {
  if (!forgotten_.insert(job).second) return;
  hub_.RemoveJob(job);
  failures_.erase(job);
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
