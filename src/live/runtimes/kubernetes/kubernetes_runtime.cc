#include "live/runtimes/kubernetes/kubernetes_runtime.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <string_view>
#include <thread>
#include <utility>

#include "clients/kubernetes/kube_time.h"
#include "core/file.h"
#include "core/strings.h"
#include "live/runtimes/kubernetes/managed_request.h"
#include "live/workers/worker_key.h"

namespace allot {
namespace {

std::string Label(const std::string& selector) {
  return selector.empty() ? "" : "labelSelector=" + QueryText(selector);
}

// Of a job that is resized by a restart: the workers of one start (kube_mark::kTeam).
struct Team {
  long long first = -1;
  long long size = 0;
  long long succeeded = 0;
};

std::optional<Team> TeamOf(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto first = ParseInteger(std::string_view(text).substr(0, slash));
  const auto size = ParseInteger(std::string_view(text).substr(slash + 1));
  if (!first || !size) return std::nullopt;
  return Team{*first, *size, 0};
}

// The next try has another pod. Its refusal has the same text, so that users read it once.
std::string WithoutNumber(std::string text, const ManagedJob& job, const std::string& worker) {
  const std::string name = WorkerPodName(job, worker);
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
    text.replace(at, name.size(), job.name + "-w*");
  }
  return text;
}

}  // namespace

KubernetesRuntime::KubernetesRuntime(KubernetesOptions options)
    : options_(std::move(options)),
      key_(WorkerKey(options_.key.empty() ? options_.state / "key" : options_.key,
                     options_.key.empty())),
      lease_(WaitForLease()),
      hub_(ListenAddress()),
      kube_nodes_(
          [this](const nlohmann::json& node) { return ReadKubeNode(node, options_.reading); }),
      managed_jobs_(ReadManagedJob),
      pods_(ReadWorkerPod),
      watch_nodes_(CollectionPath("", "api/v1", "nodes"), Label(options_.nodes), kube_nodes_),
      watch_jobs_(CollectionPath(options_.space, "apis/batch/v1", "jobs"), "", managed_jobs_),
      watch_pods_(CollectionPath(options_.space, "api/v1", "pods"), Label(kube_mark::kJob), pods_),
      writer_(client_, lease_.get(), options_.lease),
      events_(writer_, options_.dry_run),
      counted_(options_, {client_, writer_, events_, nodes_, managed_jobs_, pods_}),
      reviews_(client_, hub_, options_.identity),
      client_(options_.config, options_.patience, {&watch_nodes_, &watch_jobs_, &watch_pods_},
              [this] {
                changed_.notify_all();
                hub_.Wake();
              }) {
  // The address that workers were given is to stay ours when the daemon is started again.
  WriteTextFile(options_.state / "address", hub_.address() + "\n");
  hub_.OnFinished([this](const std::string& job) {
    (void)EndJob(job, JobState::kFinished, "");  // written down before the worker is answered
  });
}

std::string KubernetesRuntime::ListenAddress() const {
  const auto file = options_.state / "address";
  if (!options_.listen.ends_with(":0") || !std::filesystem::exists(file)) return options_.listen;
  return std::string(Trim(ReadTextFile(file.string())));
}

std::string KubernetesRuntime::DaemonAddress() const {
  return options_.address.empty() ? hub_.address() : "tcp:" + options_.address;
}

std::unique_ptr<LeaseKeeper> KubernetesRuntime::WaitForLease() const {
  if (options_.lease.empty() || options_.dry_run) return nullptr;
  LeaseTiming timing;
  timing.hold = timing.duration - options_.patience;
  auto lease =
      std::make_unique<LeaseKeeper>(options_.config, options_.lease, timing, options_.on_wait);
  lease->WaitUntilHeld();
  return lease;
}

std::string KubernetesRuntime::TokenOf(const KnownJob& known) const {
  return KeyedDigits(key_, "token of job " + known.kube.uid);
}

// Another key has another Secret: we may read none, and so cannot see what is in one.
std::string KubernetesRuntime::SecretOf(const KnownJob& known) const {
  constexpr std::size_t kDigits = 10;
  return fmt::format("{}-allot-{}", known.kube.name,
                     KeyedDigits(key_, "secret of job " + known.kube.uid).substr(0, kDigits));
}

// Its workers may join.
void KubernetesRuntime::Admit(KnownJob& known) {
  if (std::exchange(known.admitted, true)) return;
  hub_.AddJob(NameOfManagedJob(known.kube), TokenOf(known));
}

// Anybody can write our marks into a pod of his namespace.
bool KubernetesRuntime::IsOwnPod(const WorkerPod& pod) {
  const auto id = job_of_uid_.find(pod.job_uid);
  const KnownJob* known = id == job_of_uid_.end() ? nullptr : Find(id->second);
  return known != nullptr && pod.space == known->kube.space && IsWorkerOf(pod.worker, id->second);
}

std::string KubernetesRuntime::PodUidOf(const std::string& worker) {
  std::string uid;
  const std::lock_guard lock(client_.mutex());
  pods_.ForEach([&](const WorkerPod& pod) {
    if (pod.worker == worker && IsOwnPod(pod)) uid = pod.uid;
  });
  return uid;
}

KnownJob* KubernetesRuntime::Find(const std::string& job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

// ---- starting ----

Status KubernetesRuntime::CheckStart(const KnownJob& known,
                                     std::span<const WorkerRequest> workers) const {
  if (known.job.state != JobState::kActive) {
    return Status::Refused("job {} must be active to be started, it is not: {}", known.job.id,
                           known.job.reason);
  }
  for (const WorkerRequest& worker : workers) {
    if (nodes_.Find(worker.node) == nullptr) {
      return Status::Refused("the cluster has no node {}", worker.node);
    }
  }
  const nlohmann::json& pod = known.kube.pod->at("spec");
  if (known.job.mode == ResizeMode::kRestart && workers.size() > 1 && !pod.contains("subdomain")) {
    return Status::Refused(
        "job {} must name a headless Service in spec.template.spec.subdomain to run on {} nodes: "
        "its pods find each other by it",
        known.job.id, workers.size());
  }
  return Status::Ok();
}

Status KubernetesRuntime::Start(const std::string& job, std::span<const WorkerRequest> workers) {
  KnownJob* known = Find(job);
  if (known == nullptr) return Status::Refused("the cluster has no job {}", job);
  Status may = CheckStart(*known, workers);
  if (!may.ok()) return may;
  if (known->kube.counted) return counted_.Start(*known, workers);
  std::set<std::string> there;
  {
    const std::lock_guard lock(client_.mutex());
    pods_.ForEach([&](const WorkerPod& pod) {
      const bool withdrawn = withdrawn_.contains(pod.worker);
      if (pod.job_uid == known->kube.uid && !withdrawn) there.insert(pod.worker);
    });
  }
  const bool hot = known->job.mode == ResizeMode::kHot;
  const bool identities = hot && reviews_.WantIdentities();
  std::vector<WorkerRequest> missing;
  std::vector<KubeRequest> requests;
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    const WorkerRequest& worker = workers[rank];
    if (there.contains(worker.worker)) continue;
    WorkerSpec spec{.request = worker,
                    .job = job,
                    .gpu = options_.gpu,
                    .gpu_type = nodes_.Find(worker.node)->gpu_type,
                    .daemon = DaemonAddress(),
                    .secret = SecretOf(*known),
                    .identity = identities,
                    .tolerated = options_.reading.tolerated,
                    .checkpoint_every = hub_.checkpoint_every(job)};
    if (!hot) {
      spec.rank = rank;
      spec.team = workers.size();
      spec.first = workers.front().worker;
    }
    missing.push_back(worker);
    requests.push_back({"POST", CollectionPath(known->kube.space, "api/v1", "pods") + kFieldManager,
                        MakeWorkerPod(known->kube, spec)});
  }
  if (missing.empty()) return Status::Ok();
  Status done = GiveToken(*known);
  if (done.ok()) done = PostPods(*known, requests, missing, identities);
  if (!done.ok()) events_.Warn(known->kube, "NotStarted", done.message());
  return done;
}

// The Secret that the job's pods take the token from.
Status KubernetesRuntime::GiveToken(KnownJob& known) {
  Admit(known);
  if (known.has_secret) return Status::Ok();
  const KubeReply reply = writer_.Write(
      KubeRequest{"POST", CollectionPath(known.kube.space, "api/v1", "secrets") + kFieldManager,
                  MakeTokenSecret(known.kube, SecretOf(known), TokenOf(known))});
  known.has_secret = reply.ok() || reply.Is("AlreadyExists");
  return known.has_secret ? Status::Ok() : reply.ToStatus("secret of job " + known.job.id);
}

// All or none.
Status KubernetesRuntime::PostPods(KnownJob& known, const std::vector<KubeRequest>& requests,
                                   const std::vector<WorkerRequest>& missing, bool identities) {
  for (const WorkerRequest& worker : missing) {
    hub_.Expect(known.job.id, worker.worker, identities);
  }
  const std::vector<KubeReply> replies = writer_.Write(requests);
  Status done = Status::Ok();
  for (std::size_t w = 0; w < missing.size(); ++w) {
    if (replies[w].ok()) {
      Keep(replies[w]);
    } else if (!replies[w].Is("AlreadyExists") || !IsOurPod(known, missing[w])) {
      done = Status::Refused("a pod of job {}: {}", known.job.id,
                             WithoutNumber(replies[w].Text(), known.kube, missing[w].worker));
    }
  }
  if (done.ok()) {
    for (const WorkerRequest& worker : missing) withdrawn_.erase(worker.worker);
    return done;
  }
  std::vector<KubeRequest> deletions;
  for (std::size_t w = 0; w < missing.size(); ++w) {
    hub_.RemoveWorker(missing[w].worker);
    withdrawn_.insert(missing[w].worker);
    if (!replies[w].ok()) continue;
    if (const auto pod = ReadWorkerPod(replies[w].body)) {
      deletions.push_back(DeletionOf(*pod, kKillGrace));
    }
  }
  (void)writer_.Write(std::move(deletions));
  return done;
}

// A pod of that name is there: of this job and worker, or of a former Job of the same name.
bool KubernetesRuntime::IsOurPod(const KnownJob& known, const WorkerRequest& worker) {
  const KubeReply reply =
      client_.Do(KubeRequest{"GET", CollectionPath(known.kube.space, "api/v1", "pods") + "/" +
                                        WorkerPodName(known.kube, worker.worker)});
  const auto pod = reply.ok() ? ReadWorkerPod(reply.body) : std::nullopt;
  if (!pod || pod->job_uid != known.kube.uid || pod->worker != worker.worker) return false;
  if (pod->deleting && withdrawn_.contains(worker.worker)) return false;  // the next try makes it
  Keep(reply);
  return true;
}

// What we have written is seen at once. A pod that no node has yet is deleted at once: the answer
// has it without a version.
void KubernetesRuntime::Keep(const KubeReply& pod) {
  const std::lock_guard lock(client_.mutex());
  if (pod.body.at("metadata").contains("resourceVersion")) {
    pods_.PutWritten(pod.body);
  } else {
    pods_.RemoveWritten(pod.body);
  }
}

// ---- stopping ----

// The deletion of the pod is also the mark that it was stopped, for a later daemon.
Status KubernetesRuntime::Stop(const std::string& worker, StopMode mode) {
  KnownJob* job_of = Find(worker.substr(0, worker.rfind('.')));
  if (job_of != nullptr && job_of->kube.counted) return counted_.Stop(*job_of, worker, mode);
  std::optional<WorkerPod> pod;
  {
    const std::lock_guard lock(client_.mutex());
    pods_.ForEach([&](const WorkerPod& one) {
      if (one.worker == worker && IsOwnPod(one)) pod = one;
    });
  }
  if (!pod) return Status::Ok();
  // One that no snapshot has shown yet must be shown as ended, too; and one that has ended with its
  // group, of which another was stopped a moment ago, was stopped as well.
  if (job_of != nullptr && !job_of->forgotten) Meet(job_of->job.id, *pod).stopped = true;
  if (pod->ended()) return Status::Ok();
  const bool save = mode == StopMode::kSave;
  if (save && hub_.joined(worker)) hub_.Stop(worker);
  if (save && pod->deleting) return Status::Ok();
  const KubeReply reply = writer_.Write(DeletionOf(*pod, save ? -1 : kKillGrace));
  if (reply.Is("NotFound") || reply.Is("Conflict")) return Status::Ok();  // it is gone
  if (reply.ok() && reply.body.value("kind", "") == "Pod") Keep(reply);
  Status done = reply.ToStatus("pod of worker " + worker);
  if (!done.ok() && job_of != nullptr) events_.Warn(job_of->kube, "NotStopped", done.message());
  return done;
}

// ---- the worker protocol ----

Status KubernetesRuntime::Announce(const std::string& job, const Membership& membership) {
  return hub_.Announce(job, membership);
}

Status KubernetesRuntime::SetBatch(const std::string& job, const WorkerBatchOrder& batch) {
  hub_.SetBatch(job, batch);
  return Status::Ok();
}

Status KubernetesRuntime::SetCheckpointEvery(const std::string& job, Seconds every) {
  hub_.SetCheckpointEvery(job, every);
  return Status::Ok();
}

JobProgress KubernetesRuntime::Progress(const std::string& job) { return hub_.Progress(job); }

void KubernetesRuntime::Wait(Seconds at_most) {
  if (has_snapshot_) {
    hub_.Serve(at_most);
    reviews_.Answer([this](const std::string& worker) { return PodUidOf(worker); });
  } else {
    // Workers of an earlier daemon's would be refused by a hub that does not know them yet.
    std::this_thread::sleep_for(std::chrono::duration<double>(at_most));
  }
}

// ---- the ends of jobs ----

Status KubernetesRuntime::Fail(const std::string& job, const std::string& reason) {
  if (const KnownJob* known = Find(job); known != nullptr && known->kube.counted) {
    return Status::Refused("job {} is given up by Kubernetes' own controller (backoffLimit)", job);
  }
  return EndJob(job, JobState::kFailed, reason);
}

Status KubernetesRuntime::Cancel(const std::string& job) {
  if (const KnownJob* known = Find(job); known != nullptr && known->kube.counted) {
    return Status::Refused("job {} is cancelled by kubectl -n {} delete job {}", job,
                           known->kube.space, known->kube.name);
  }
  return EndJob(job, JobState::kCancelled, "cancelled by allot cancel");
}

// Announced at once; the next snapshots bring it to its end.
Status KubernetesRuntime::EndJob(const std::string& job, JobState state,
                                 const std::string& reason) {
  KnownJob* known = Find(job);
  if (known == nullptr || known->gone || known->end) return Status::Ok();
  known->end = JobEnd{state, reason};
  WriteStatus();
  return known->refusal.empty() ? Status::Ok() : Status::Refused("{}", known->refusal);
}

void KubernetesRuntime::Forget(const std::string& job) {
  KnownJob* known = Find(job);
  if (known == nullptr || std::exchange(known->forgotten, true)) return;
  hub_.RemoveJob(job);
  known->admitted = false;
  counted_.Forget(job);
  std::erase_if(workers_, [&](const auto& one) { return one.second.seen.job == job; });
}

void KubernetesRuntime::Explain(const std::string& job, const std::optional<JobTrouble>& trouble) {
  const KnownJob* known = Find(job);
  if (known != nullptr && !known->gone) events_.Explain(known->kube, trouble);
}

// ---- snapshots ----

void KubernetesRuntime::WaitForFirstLists(std::unique_lock<std::mutex>& lock) {
  changed_.wait_for(lock, std::chrono::duration<double>(options_.patience), [this] {
    const std::array<const ListWatch*, 3> all = {&watch_nodes_, &watch_jobs_, &watch_pods_};
    const auto listed = [](const ListWatch* one) { return one->listed(); };
    const auto in_trouble = [](const ListWatch* one) { return !one->trouble().empty(); };
    return std::all_of(all.begin(), all.end(), listed) ||
           std::any_of(all.begin(), all.end(), in_trouble);
  });
}

void KubernetesRuntime::CheckThatAllIsKnown() const {
  for (const ListWatch* one : {&watch_nodes_, &watch_jobs_, &watch_pods_}) {
    if (!one->trouble().empty()) throw RunError("kubernetes: {}", one->trouble());
    if (!one->listed())
      throw RunError("kubernetes: the first list of the API server is not complete yet");
  }
}

RuntimeSnapshot KubernetesRuntime::TakeSnapshot() {
  RuntimeSnapshot seen;
  seen.refused_writes = writer_.refused();
  std::vector<WorkerPod> pods;
  {
    std::unique_lock lock(client_.mutex());
    WaitForFirstLists(lock);
    CheckThatAllIsKnown();
    nodes_.Read(kube_nodes_);
    seen.nodes = nodes_.all();
    ReadJobs();
    pods.reserve(pods_.size());
    pods_.ForEach([&](const WorkerPod& pod) { pods.push_back(pod); });
  }
  RemoveEndedPods();
  ReadWorkers(pods);
  EndFinishedTeams(pods);
  if (!options_.dry_run) WriteStatus();
  std::vector<KnownJob*> counted;
  for (auto& [id, known] : jobs_) {
    if (known.kube.counted && !known.forgotten) counted.push_back(&known);
  }
  counted_.CountPods(counted, pods);
  for (auto& [id, known] : jobs_) {
    ReadJob(known);
    if (!known.forgotten) seen.jobs.push_back(std::make_shared<const RuntimeJob>(known.job));
  }
  for (auto& [id, worker] : workers_) {
    seen.workers.push_back(worker.seen);
    worker.shown = worker.seen.state == WorkerState::kEnded;
  }
  counted_.ReadWorkers(counted, pods, &seen);
  std::erase_if(jobs_, [this](const auto& one) {
    const bool over = one.second.gone && one.second.forgotten;
    if (over) {
      job_of_uid_.erase(one.second.kube.uid);
      events_.Forget(one.second.kube);
    }
    return over;
  });
  has_snapshot_ = true;
  return seen;
}

// ---- jobs ----

void KubernetesRuntime::ReadJobs() {
  for (auto& [id, known] : jobs_) known.gone = true;
  managed_jobs_.ForEach([&](const ManagedJob& kube) {
    std::string& id = job_of_uid_[kube.uid];
    if (id.empty()) id = NameOfManagedJob(kube);
    KnownJob& known = jobs_[id];
    known.gone = false;
    if (const auto end = EndIn(kube)) known.end = end;
    if (known.kube.pod == kube.pod) return;  // the same object: the store makes one of each change
    known.kube = kube;
    known.fresh = true;
  });
}

void KubernetesRuntime::ReadAsked(KnownJob& known) {
  const ManagedJob& kube = known.kube;
  RuntimeJob job;
  job.id = NameOfManagedJob(kube);
  job.user = kube.space;
  job.name = kube.name;
  job.known_as = fmt::format("{}/{}", kube.space, kube.name);
  job.submit = kube.created;
  job.time_limit = kube.time_limit;
  try {
    if (kube.counted) {
      counted_.ReadRequest(known, &job);
    } else {
      ReadManagedRequest(kube, options_.gpu, &job);
    }
    if (kube.size() == 0 && !kube.counted) {
      job.state = JobState::kHeld;
      job.reason = kube.suspended ? "suspended (spec.suspend)" : "spec.parallelism is 0";
    }
  } catch (const std::exception& error) {
    job.state = JobState::kHeld;
    job.reason = error.what();
    job.min_gpus = job.max_gpus = job.requested = 1;
    if (!known.end && !known.gone) events_.Warn(kube, "NotPlaced", job.reason);
  }
  known.asked = std::move(job);
}

void KubernetesRuntime::ReadJob(KnownJob& known) {
  // What a counted Job asks for depends on the nodes, too.
  if (std::exchange(known.fresh, false) || known.kube.counted) ReadAsked(known);
  RuntimeJob job = known.asked;
  if (known.end) {
    job.state = known.end->state;
    job.reason = known.end->reason;
  } else if (known.gone || known.kube.deleting) {
    job.state = JobState::kCancelled;
    job.reason = "its Job was deleted";
  }
  known.job = std::move(job);
}

// A program that is not elastic is done when all of its latest workers have ended with success.
void KubernetesRuntime::EndFinishedTeams(const std::vector<WorkerPod>& pods) {
  std::map<std::string, Team> teams;  // the latest of each Job, by uid
  for (const WorkerPod& pod : pods) {
    const auto team = TeamOf(pod.team);
    if (!team || !job_of_uid_.contains(pod.job_uid)) continue;
    Team& latest = teams[pod.job_uid];
    if (team->first > latest.first) latest = *team;
    const bool counts = pod.phase == PodPhase::kSucceeded && !pod.deleting;
    if (team->first == latest.first && counts) ++latest.succeeded;
  }
  for (const auto& [uid, team] : teams) {
    KnownJob* known = Find(job_of_uid_.at(uid));
    if (known != nullptr && !known->end && team.succeeded >= team.size) {
      known->end = JobEnd{JobState::kFinished, ""};
    }
  }
  for (auto& [id, known] : jobs_) {
    const double limit = known.kube.started + known.kube.time_limit;
    if (known.kube.counted || known.end || !(limit < static_cast<double>(std::time(nullptr)))) {
      continue;
    }
    known.end = JobEnd{JobState::kFailed, fmt::format("active for longer than the {:.0f} s of "
                                                      "spec.activeDeadlineSeconds",
                                                      known.kube.time_limit)};
  }
}

// ---- workers ----

void KubernetesRuntime::ReadWorkers(const std::vector<WorkerPod>& pods) {
  for (auto& [id, known] : jobs_) {
    if (hub_.finished(id) && !known.end) known.end = JobEnd{JobState::kFinished, ""};
    known.active = known.ready = 0;
  }
  std::set<std::string> there;
  for (const WorkerPod& pod : pods) {
    if (!IsOwnPod(pod)) continue;
    if (withdrawn_.contains(pod.worker)) continue;
    there.insert(pod.worker);
    ReadWorker(*Find(job_of_uid_.at(pod.job_uid)), pod);
  }
  std::erase_if(workers_,
                [&](const auto& one) { return one.second.shown && !there.contains(one.first); });
  for (auto& [name, worker] : workers_) {
    if (worker.seen.state == WorkerState::kEnded || there.contains(name)) continue;
    EndWorker(jobs_.at(worker.seen.job), WorkerExit::kCancelled, "its pod was deleted", &worker);
  }
}

void KubernetesRuntime::ReadWorker(KnownJob& known, const WorkerPod& pod) {
  const std::string job = NameOfManagedJob(known.kube);
  const bool lost = nodes_.HaveLost(pod);
  if (known.forgotten) {
    if (!pod.ended() && !lost) ++known.active;
    return;
  }
  KnownWorker& worker = Meet(job, pod);
  if (worker.seen.state == WorkerState::kEnded) return;  // judged once
  worker.stopped = worker.stopped || pod.deleting;
  if (pod.ended()) {
    const bool good = pod.phase == PodPhase::kSucceeded;
    EndWorker(known, good ? WorkerExit::kSuccess : WorkerExit::kFailure, pod.reason, &worker);
  } else if (lost || pod.stuck) {
    if (!pod.deleting) ended_pods_.push_back(pod);
    const std::string why = pod.stuck                          ? pod.reason
                            : nodes_.Find(pod.node) == nullptr ? "its node is gone"
                                                               : "its node does not answer";
    EndWorker(known, WorkerExit::kFailure, why, &worker);
    if (pod.stuck)
      events_.Warn(known.kube, "NotStarted", "a worker cannot be started: " + pod.reason);
  } else {
    ++known.active;
    if (TeamOf(pod.team)) {
      if (pod.phase == PodPhase::kRunning) worker.seen.state = WorkerState::kReady;
    } else {
      Admit(known);
      hub_.Expect(job, pod.worker, pod.has_identity);
      if (hub_.joined(pod.worker)) worker.seen.state = WorkerState::kReady;
      worker.seen.silent = hub_.silent(pod.worker);
      worker.seen.preparing = pod.preparing;
    }
    worker.seen.pending = pod.gated ? PendingStart{} : pod.pending;
    worker.watched = true;
    if (worker.seen.state == WorkerState::kReady) ++known.ready;
  }
}

// The end of a worker is final once it was reported.
KubernetesRuntime::KnownWorker& KubernetesRuntime::Meet(const std::string& job,
                                                        const WorkerPod& pod) {
  KnownWorker& worker = workers_[pod.worker];
  if (worker.seen.state == WorkerState::kEnded) return worker;
  worker.pod = pod;
  worker.seen.id = pod.worker;
  worker.seen.job = job;
  worker.seen.node = pod.node;
  worker.seen.gpus = pod.gpus;
  return worker;
}

void KubernetesRuntime::EndWorker(const KnownJob& known, WorkerExit exit, const std::string& reason,
                                  KnownWorker* worker) {
  const std::string& id = worker->seen.id;
  const std::string& job = worker->seen.job;
  const bool hot = !TeamOf(worker->pod.team);
  const WorkerVerdict verdict =
      JudgeWorkerEnd({.mode = hot ? ResizeMode::kHot : ResizeMode::kRestart,
                      .exit = exit,
                      .job_over = known.end.has_value() || known.gone || known.kube.deleting,
                      .stopped = worker->stopped,
                      .watched = worker->watched,
                      .joined = hub_.joined(id),
                      .announced = hub_.announced(job),
                      .member = hub_.member(id)});
  SetEnded(verdict, reason, &worker->seen);
  hub_.RemoveWorker(id);
  // Failed pods, and those of a job that is over, stay for their logs.
  const bool left = verdict.end == WorkerEnd::kMeant && !known.end && !known.gone;
  if (left && worker->pod.ended() && !worker->pod.deleting) ended_pods_.push_back(worker->pod);
}

// One snapshot after the one that showed their end: by then the daemon has written it down.
void KubernetesRuntime::RemoveEndedPods() {
  const std::vector<WorkerPod> pods = std::exchange(ended_pods_, {});
  if (options_.dry_run || pods.empty()) return;
  std::vector<KubeRequest> requests;
  requests.reserve(pods.size());
  for (const WorkerPod& pod : pods) requests.push_back(DeletionOf(pod, -1));
  const std::vector<KubeReply> replies = writer_.Write(std::move(requests));
  for (std::size_t p = 0; p < pods.size(); ++p) {
    const bool gone = replies[p].ok() || replies[p].Is("NotFound") || replies[p].Is("Conflict");
    if (!gone) ended_pods_.push_back(pods[p]);
  }
}

// ---- writing to Kubernetes ----

void KubernetesRuntime::WriteStatus() {
  const std::string now = KubeTimeText(std::time(nullptr));
  std::vector<KnownJob*> patched;
  std::vector<KubeRequest> requests;
  for (auto& [id, known] : jobs_) {
    if (known.gone || known.kube.deleting || known.kube.counted) continue;
    auto patch = StatusPatch(known.kube, known.end, known.active, known.ready, now);
    if (!patch) continue;
    (*patch)["metadata"]["uid"] = known.kube.uid;  // not of a later Job of its name
    patched.push_back(&known);
    requests.push_back(
        {"PATCH", JobPath(known.kube) + "/status" + kFieldManager, std::move(*patch)});
  }
  if (requests.empty()) return;
  const std::vector<KubeReply> replies = writer_.Write(std::move(requests));
  for (std::size_t r = 0; r < replies.size(); ++r) {
    KnownJob& known = *patched[r];
    const KubeReply& reply = replies[r];
    known.refusal = reply.ok() || reply.Is("NotFound") ? "" : reply.Text();
    if (!known.refusal.empty()) events_.Warn(known.kube, "StatusNotWritten", known.refusal);
    if (!reply.ok()) continue;
    const std::lock_guard lock(client_.mutex());
    managed_jobs_.PutWritten(reply.body);
  }
}

namespace {

ALLOT_REGISTER(
    RuntimeInfo,
    (RuntimeInfo{
        .id = "kubernetes",
        .summary = "Jobs of which allot is the controller, as pods that it starts and ends",
        .params = KubernetesParams(),
        .make = [](const Params& params, const RuntimeOptions& options) {
          return std::make_unique<KubernetesRuntime>(KubernetesOptionsFrom(params, options));
        }}));

}  // namespace

}  // namespace allot
