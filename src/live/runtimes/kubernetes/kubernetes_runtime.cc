#include "live/runtimes/kubernetes/kubernetes_runtime.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <utility>

#include "clients/kubernetes/kube_time.h"
#include "core/file.h"
#include "core/strings.h"
#include "live/runtimes/kubernetes/managed_request.h"
#include "live/workers/worker_key.h"

namespace allot {
namespace {

std::string Collection(const std::string& space, const char* group, const char* kind) {
  return fmt::format("/{}{}/{}", group, space.empty() ? "" : "/namespaces/" + space, kind);
}

std::string Label(const std::string& selector) {
  return selector.empty() ? "" : "labelSelector=" + QueryText(selector);
}

constexpr const char* kWritten = "?fieldManager=allot";

}  // namespace

KubernetesRuntime::KubernetesRuntime(KubernetesOptions options)
    : options_(std::move(options)),
      key_(WorkerKey(options_.key.empty() ? options_.state / "key" : options_.key,
                     options_.key.empty())),
      lease_(WaitForLease()),
      hub_(ListenAddress()),
      nodes_([this](const nlohmann::json& node) { return ReadKubeNode(node, options_.reading); }),
      managed_jobs_(ReadManagedJob),
      pods_(ReadWorkerPod),
      watch_nodes_(Collection("", "api/v1", "nodes"), Label(options_.nodes), nodes_),
      watch_jobs_(Collection(options_.space, "apis/batch/v1", "jobs"), "", managed_jobs_),
      watch_pods_(Collection(options_.space, "api/v1", "pods"), Label(kube_mark::kJob), pods_),
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
  if (options_.identity == WorkerIdentity::kOff) return;
  hub_.AskIdentity([this](std::uint64_t join, const std::string& worker,
                          const std::string& identity) { AskWhoJoins(join, worker, identity); });
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

// Who is no longer in charge writes nothing.
std::vector<KubeReply> KubernetesRuntime::Write(std::vector<KubeRequest> requests) {
  if (lease_ == nullptr || lease_->held()) return client_.Do(std::move(requests));
  return std::vector<KubeReply>(
      requests.size(), NoKubeReply("the lease " + options_.lease + " must be ours, it is not"));
}

KubeReply KubernetesRuntime::Write(KubeRequest request) {
  std::vector<KubeRequest> one;
  one.push_back(std::move(request));
  return std::move(Write(std::move(one)).front());
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

KubernetesRuntime::KnownJob* KubernetesRuntime::Find(const std::string& job) {
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
    if (!node_of_name_.contains(worker.node)) {
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
  if (known->kube.counted) return StartCounted(*known, workers);
  std::set<std::string> there;
  {
    const std::lock_guard lock(client_.mutex());
    pods_.ForEach([&](const WorkerPod& pod) {
      const bool withdrawn = withdrawn_.contains(pod.worker);
      if (pod.job_uid == known->kube.uid && !withdrawn) there.insert(pod.worker);
    });
  }
  const bool hot = known->job.mode == ResizeMode::kHot;
  const bool identities = hot && GivesIdentities();
  std::vector<WorkerRequest> missing;
  std::vector<KubeRequest> requests;
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    const WorkerRequest& worker = workers[rank];
    if (there.contains(worker.worker)) continue;
    WorkerSpec spec{.request = worker,
                    .job = job,
                    .gpu = options_.gpu,
                    .gpu_type = node_of_name_.at(worker.node).gpu_type,
                    .daemon = DaemonAddress(),
                    .secret = SecretOf(*known),
                    .identity = identities,
                    .tolerated = options_.reading.tolerated};
    if (!hot) {
      spec.rank = rank;
      spec.team = workers.size();
      spec.first = workers.front().worker;
    }
    missing.push_back(worker);
    requests.push_back({"POST", Collection(known->kube.space, "api/v1", "pods") + kWritten,
                        MakeWorkerPod(known->kube, spec)});
  }
  if (missing.empty()) return Status::Ok();
  Status done = GiveToken(*known);
  if (done.ok()) done = PostPods(*known, requests, missing, identities);
  if (!done.ok()) TellUser(*known, "NotStarted", done.message());
  return done;
}

// The Secret that the job's pods take the token from.
Status KubernetesRuntime::GiveToken(KnownJob& known) {
  Admit(known);
  if (known.has_secret) return Status::Ok();
  const KubeReply reply =
      Write(KubeRequest{"POST", Collection(known.kube.space, "api/v1", "secrets") + kWritten,
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
  const std::vector<KubeReply> replies = Write(requests);
  Status done = Status::Ok();
  for (std::size_t w = 0; w < missing.size(); ++w) {
    if (replies[w].ok()) {
      Keep(replies[w]);
    } else if (!replies[w].Is("AlreadyExists") || !IsOurPod(known, missing[w])) {
      done = replies[w].ToStatus("pod of worker " + missing[w].worker);
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
      deletions.push_back(DeletePod(*pod, kKillGrace));
    }
  }
  (void)Write(std::move(deletions));
  return done;
}

// A pod of that name is there: of this job and worker, or of a former Job of the same name.
bool KubernetesRuntime::IsOurPod(const KnownJob& known, const WorkerRequest& worker) {
  const KubeReply reply =
      client_.Do(KubeRequest{"GET", Collection(known.kube.space, "api/v1", "pods") + "/" +
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
    pods_.Put(pod.body);
  } else {
    pods_.Remove(pod.body);
  }
}

// ---- stopping ----

KubeRequest KubernetesRuntime::DeletePod(const WorkerPod& pod, int grace) const {
  nlohmann::json how = {{"preconditions", {{"uid", pod.uid}}}};
  if (grace >= 0) how["gracePeriodSeconds"] = grace;
  return {"DELETE", Collection(pod.space, "api/v1", "pods") + "/" + pod.name, std::move(how)};
}

// The deletion of the pod is also the mark that it was stopped, for a later daemon.
Status KubernetesRuntime::Stop(const std::string& worker, StopMode mode) {
  KnownJob* job_of = Find(worker.substr(0, worker.rfind('.')));
  if (job_of != nullptr && job_of->kube.counted) return StopCounted(*job_of, worker, mode);
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
  const KubeReply reply = Write(DeletePod(*pod, save ? -1 : kKillGrace));
  if (reply.Is("NotFound") || reply.Is("Conflict")) return Status::Ok();  // it is gone
  if (reply.ok() && reply.body.value("kind", "") == "Pod") Keep(reply);
  return reply.ToStatus("pod of worker " + worker);
}

// ---- the worker protocol ----

Status KubernetesRuntime::Announce(const std::string& job, const Membership& membership) {
  return hub_.Announce(job, membership);
}

Status KubernetesRuntime::SetBatch(const std::string& job, const WorkerBatchOrder& batch) {
  hub_.SetBatch(job, batch);
  return Status::Ok();
}

JobProgress KubernetesRuntime::Progress(const std::string& job) { return hub_.Progress(job); }

void KubernetesRuntime::Wait(Seconds at_most) {
  if (has_snapshot_) {
    hub_.Serve(at_most);
    AnswerJoins();
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
  return known->warned.empty() ? Status::Ok() : Status::Refused("{}", known->warned);
}

void KubernetesRuntime::Forget(const std::string& job) {
  KnownJob* known = Find(job);
  if (known == nullptr || std::exchange(known->forgotten, true)) return;
  hub_.RemoveJob(job);
  known->admitted = false;
  known->counted = {};
  std::erase_if(workers_, [&](const auto& one) { return one.second.seen.job == job; });
}

// ---- what users are told ----

void KubernetesRuntime::Explain(const std::string& job, const JobTrouble& trouble) {
  KnownJob* known = Find(job);
  if (known == nullptr || known->gone) return;
  const bool was_explained = std::exchange(known->explained, !trouble.why.empty());
  if (!trouble.why.empty()) {
    TellUser(*known, trouble.holds_gpus ? "WorkersNotJoined" : "NotRunning", trouble.why);
  } else if (was_explained) {
    PostEvent(*known, {"Normal", "Resolved", "what was wrong with this job is over"});
  }
}

void KubernetesRuntime::TellUser(KnownJob& known, const char* reason, const std::string& message) {
  PostEvent(known, {"Warning", reason, message});
}

// Once, until it is something else.
void KubernetesRuntime::PostEvent(KnownJob& known, const JobEvent& event) {
  if (options_.dry_run || known.told == event.message) return;
  known.told = event.message;
  const std::string events = Collection(known.kube.space, "api/v1", "events");
  const std::string now = KubeTimeText(std::time(nullptr));
  const nlohmann::json made = MakeJobEvent(known.kube, event, now);
  KubeReply reply = client_.Do(KubeRequest{"POST", events + kWritten, made});
  if (reply.Is("AlreadyExists")) {
    const auto name = made.at("metadata").at("name").get<std::string>();
    reply = CountEvent(events + "/" + name + kWritten, now);
  }
  if (!reply.ok()) {
    spdlog::warn("job {} cannot be told '{}': {}", known.job.id, event.message, reply.Text());
  }
}

// One that was told before, also by an earlier daemon, and comes again: by its last time it is
// shown behind what was told since. We may not read events; the answer to a patch has the count.
KubeReply KubernetesRuntime::CountEvent(const std::string& path, const std::string& now) {
  KubeReply reply = client_.Do(KubeRequest{"PATCH", path, {{"lastTimestamp", now}}});
  if (!reply.ok()) return reply;
  return client_.Do(KubeRequest{"PATCH", path, {{"count", reply.body.value("count", 1) + 1}}});
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
