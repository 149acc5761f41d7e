// What the Kubernetes runtime sees: from the objects that are kept known to a snapshot, and to the
// status of Jobs that follows from it.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <string_view>
#include <utility>

#include "clients/kubernetes/kube_time.h"
#include "core/strings.h"
#include "live/runtimes/kubernetes/kubernetes_runtime.h"
#include "live/runtimes/kubernetes/managed_request.h"

namespace allot {
namespace {

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

// By an administrator, and it lives. One with a taint may be in trouble: that counts as down.
bool IsDrained(const KubeNode& node) { return node.ready && node.cordoned; }

}  // namespace

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
    if (!one->listed()) throw RunError("kubernetes: the API server has not told everything yet");
  }
}

RuntimeSnapshot KubernetesRuntime::TakeSnapshot() {
  RuntimeSnapshot seen;
  std::vector<WorkerPod> pods;
  {
    std::unique_lock lock(client_.mutex());
    WaitForFirstLists(lock);
    CheckThatAllIsKnown();
    ReadNodes(&seen);
    ReadJobs();
    pods.reserve(pods_.size());
    pods_.ForEach([&](const WorkerPod& pod) { pods.push_back(pod); });
  }
  RemoveEndedPods();
  ReadWorkers(pods);
  EndFinishedTeams(pods);
  if (!options_.dry_run) WriteStatus();
  for (auto& [id, known] : jobs_) {
    ReadJob(known);
    if (!known.forgotten) seen.jobs.push_back(std::make_shared<const RuntimeJob>(known.job));
  }
  ReadCountedWorkers(pods, &seen);
  for (auto& [id, worker] : workers_) {
    seen.workers.push_back(worker.seen);
    worker.shown = worker.seen.state == WorkerState::kEnded;
  }
  std::erase_if(jobs_, [this](const auto& one) {
    const bool over = one.second.gone && one.second.forgotten;
    if (over) job_of_uid_.erase(one.second.kube.uid);
    return over;
  });
  has_snapshot_ = true;
  return seen;
}

// ---- nodes ----

void KubernetesRuntime::ReadNodes(RuntimeSnapshot* seen) {
  const auto before = std::exchange(node_of_name_, {});
  nodes_.ForEach([&](const KubeNode& node) { node_of_name_[node.name] = node; });
  for (const auto& [name, node] : node_of_name_) {
    const auto known = before.find(name);
    const auto closed = known == before.end() ? std::nullopt : known->second.closed;
    if (node.closed && node.gpus > 0 && node.closed != closed) {
      spdlog::info("node {} takes no workers: {}", name, *node.closed);
    }
  }
  for (RuntimeNode& shown : shown_nodes_) {
    const auto found = node_of_name_.find(shown.name);
    const bool there = found != node_of_name_.end();
    shown.up = there && !found->second.closed && found->second.gpus >= shown.capacity.gpus;
    shown.drained = there && IsDrained(found->second);
  }
  for (const auto& named : node_of_name_) {
    const KubeNode& node = named.second;
    const bool known = std::any_of(shown_nodes_.begin(), shown_nodes_.end(),
                                   [&](const RuntimeNode& one) { return one.name == node.name; });
    if (known || node.gpus == 0) continue;
    RuntimeNode shown;
    shown.name = node.name;
    if (!node.gpu_type.empty()) shown.gpu_type = node.gpu_type;
    shown.capacity.gpus = std::min(node.gpus, kMaxGpusPerNode);
    shown.capacity.cpus = node.cpus;
    shown.up = !node.closed;
    shown.drained = IsDrained(node);
    shown_nodes_.push_back(std::move(shown));
  }
  seen->nodes = shown_nodes_;
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
      ReadCountedJob(kube, &job);
    } else {
      ReadManagedRequest(kube, options_.gpu, &job);
    }
    if (kube.suspended && !kube.counted) {
      job.state = JobState::kHeld;
      job.reason = "suspended (spec.suspend)";
    }
  } catch (const std::exception& error) {
    job.state = JobState::kHeld;
    job.reason = error.what();
    job.min_gpus = job.max_gpus = job.requested = 1;
    if (!known.end && !known.gone) TellUser(known, "NotPlaced", job.reason);
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
  const auto node = node_of_name_.find(pod.node);
  const bool node_gone = node == node_of_name_.end();
  // The kubelet is silent: the pod would stay "terminating" for as long.
  const bool lost = node_gone || (pod.deleting && !node->second.ready);
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
    const std::string why = pod.stuck   ? pod.reason
                            : node_gone ? "its node is gone"
                                        : "its node does not answer";
    EndWorker(known, WorkerExit::kFailure, why, &worker);
    if (pod.stuck) TellUser(known, "NotStarted", "a worker cannot be started: " + pod.reason);
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
    worker.seen.waits = pod.gated ? kNoWord : pod.waits;
    worker.seen.detail = pod.gated ? "" : pod.detail;
    worker.watched = true;
    if (worker.seen.state == WorkerState::kReady) ++known.ready;
  }
}

// Its end, once it was told, stays.
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
  std::vector<KubeRequest> requests;
  for (const WorkerPod& pod : std::exchange(ended_pods_, {})) {
    requests.push_back(DeletePod(pod, -1));
  }
  if (!options_.dry_run && !requests.empty()) (void)Write(std::move(requests));
}

// ---- what Kubernetes is told ----

void KubernetesRuntime::WriteStatus() {
  const std::string now = KubeTimeText(std::time(nullptr));
  std::vector<KnownJob*> told;
  std::vector<KubeRequest> requests;
  for (auto& [id, known] : jobs_) {
    if (known.gone || known.kube.deleting || known.kube.counted) continue;
    auto patch = StatusPatch(known.kube, known.end, known.active, known.ready, now);
    if (!patch) continue;
    told.push_back(&known);
    requests.push_back(
        {"PATCH",
         fmt::format("/apis/batch/v1/namespaces/{}/jobs/{}/status?fieldManager=allot",
                     known.kube.space, known.kube.name),
         std::move(*patch)});
  }
  if (requests.empty()) return;
  const std::vector<KubeReply> replies = Write(std::move(requests));
  const std::lock_guard lock(client_.mutex());
  for (std::size_t r = 0; r < replies.size(); ++r) {
    KnownJob& known = *told[r];
    if (replies[r].ok()) {
      managed_jobs_.Put(replies[r].body);
      known.warned.clear();
    } else if (!replies[r].Is("NotFound") && known.warned != replies[r].Text()) {
      known.warned = replies[r].Text();
      spdlog::warn("the status of job {} cannot be written: {}", NameOfManagedJob(known.kube),
                   known.warned);
    }
  }
}

}  // namespace allot
