// Counted Jobs: Kubernetes' own controller runs their pods, allot sets spec.parallelism. Only here
// does allot write into the spec of a Job.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "live/runtimes/kubernetes/counted_job.h"
#include "live/runtimes/kubernetes/kubernetes_runtime.h"

namespace allot {
namespace {

constexpr int kMostTries = 3;  // of a patch, where the Job has changed meanwhile

std::string PathOf(const ManagedJob& job) {
  return fmt::format("/apis/batch/v1/namespaces/{}/jobs/{}", job.space, job.name);
}

}  // namespace

void KubernetesRuntime::ReadCountedJob(const ManagedJob& kube, RuntimeJob* job) {
  std::vector<std::string> types;
  for (const RuntimeNode& node : shown_nodes_) {
    if (std::find(types.begin(), types.end(), node.gpu_type) == types.end()) {
      types.push_back(node.gpu_type);
    }
  }
  ReadCountedRequest(kube, options_.gpu, types, job);
  job->reason = ResizedByAnother(kube) + SuspendedByAnother(kube);
  if (!job->reason.empty()) job->state = JobState::kHeld;
}

// ---- looking ----

void KubernetesRuntime::ReadCountedWorkers(const std::vector<WorkerPod>& pods,
                                           RuntimeSnapshot* seen) {
  std::map<std::string, std::vector<WorkerPod>> of_job;  // by uid
  GpusOfNodes held;
  for (const WorkerPod& pod : pods) {
    if (pod.ended()) continue;
    if (pod.worker.empty()) {
      of_job[pod.job_uid].push_back(pod);
    } else {
      held[pod.node] |= pod.gpus;
    }
  }
  std::vector<KnownJob*> counted;
  for (auto& [id, known] : jobs_) {
    if (known.kube.counted && !known.forgotten) counted.push_back(&known);
  }
  for (KnownJob* known : counted) {
    MatchCounted(*known, of_job[known->kube.uid]);
    known->counted.KeepGpus(&held);
  }
  for (KnownJob* known : counted) {
    known->counted.TakeGpus(&held);
    known->counted.Show(&seen->workers);
    ShrinkCounted(*known);
  }
}

void KubernetesRuntime::MatchCounted(KnownJob& known, const std::vector<WorkerPod>& pods) {
  CountedWorkers& workers = known.counted;
  const JobState state = known.job.state;
  if (state == JobState::kActive && !workers.begun()) {
    workers.Begin(known.job.id, WorkersOf(known.kube));
  }
  if (state == JobState::kHeld && !known.kube.suspended) {  // another resizes it
    TellUser(known, "LeftAlone", known.job.reason);
    workers.LetGo("allot leaves its Job alone");
    return;
  }
  if (state != JobState::kActive && state != JobState::kHeld) workers.StopAll();
  std::vector<WorkerPod> own;
  own.reserve(pods.size());
  for (const WorkerPod& pod : pods) {
    const auto node = node_of_name_.find(pod.node);
    const bool lost =
        !pod.node.empty() && (node == node_of_name_.end() || (pod.deleting && !node->second.ready));
    // Without its Job a pod ends, which another watch may tell later, or is somebody else's.
    const bool its = !known.gone || pod.deleting || workers.Holds(pod.uid);
    if (pod.space == known.kube.space && !lost && its) own.push_back(pod);
  }
  workers.Match(own);
}

// Stops are gathered and written at the next look: every patch of its size disturbs a job.
void KubernetesRuntime::ShrinkCounted(KnownJob& known) {
  const GpuCount wanted = known.counted.wanted();
  const bool ours = known.job.state == JobState::kActive && known.counted.begun();
  if (!ours || options_.dry_run || wanted >= known.kube.size()) return;
  const Status done = WriteSize(known);
  if (!done.ok()) TellUser(known, "NotResized", done.message());
}

// ---- doing ----

Status KubernetesRuntime::StartCounted(KnownJob& known, std::span<const WorkerRequest> workers) {
  int gated = 0;
  {
    const std::lock_guard lock(client_.mutex());
    pods_.ForEach([&](const WorkerPod& pod) {
      const bool own = pod.worker.empty() && pod.job_uid == known.kube.uid;
      gated += own && pod.gated && !pod.ended() ? 1 : 0;
    });
  }
  std::vector<WorkerRequest> missing;
  for (const WorkerRequest& worker : workers) {
    if (!known.counted.Has(worker.worker)) missing.push_back(worker);
  }
  if (missing.empty() && known.counted.wanted() == known.kube.size()) return Status::Ok();
  if (gated > 0) {
    return Status::Refused("job {} grows no further while {} of its pods wait for their quota",
                           known.job.id, gated);
  }
  known.counted.Add(missing);
  Status done = WriteSize(known);
  if (!done.ok()) {
    known.counted.Withdraw(missing);
    TellUser(known, "NotResized", done.message());
  }
  return done;
}

Status KubernetesRuntime::StopCounted(KnownJob& known, const std::string& worker, StopMode mode) {
  known.counted.Stop(worker);
  const auto uid = known.counted.PodOf(worker);
  if (mode != StopMode::kKill || !uid) return Status::Ok();
  std::optional<WorkerPod> pod;
  {
    const std::lock_guard lock(client_.mutex());
    if (const WorkerPod* found = pods_.Find(*uid)) pod = *found;
  }
  // Its controller has chosen it: only then does nobody replace it.
  if (!pod || !pod->deleting) return Status::Ok();
  const KubeReply reply = Write(DeletePod(*pod, kKillGrace));
  return reply.Is("NotFound") || reply.Is("Conflict") ? Status::Ok()
                                                      : reply.ToStatus("pod " + pod->name);
}

// What the server knows of the Job by now, so that the precondition of the patch is no mere form.
Status KubernetesRuntime::TakeNewest(KnownJob& known, std::uint64_t* version) {
  const std::lock_guard lock(client_.mutex());
  const ManagedJob* newest = managed_jobs_.Find(known.kube.uid);
  if (newest == nullptr) return Status::Refused("job {} is no longer there", known.job.id);
  known.kube = *newest;
  *version = managed_jobs_.VersionOfUid(known.kube.uid);
  if (!known.kube.counted) return Status::Refused("job {} is no longer ours", known.job.id);
  const std::string why = ResizedByAnother(known.kube) + SuspendedByAnother(known.kube);
  return why.empty() ? Status::Ok() : Status::Refused("{}", why);
}

Status KubernetesRuntime::WriteSize(KnownJob& known) {
  const std::vector<std::int64_t> workers = known.counted.numbers();
  Status done = Status::Ok();
  for (int tries = 0; tries < kMostTries; ++tries) {
    std::uint64_t version = 0;
    done = TakeNewest(known, &version);
    if (!done.ok()) return done;
    if (workers.empty() && known.kube.counted->queued) {
      return Status::Refused("job {} is stopped by Kueue alone, in whose queue it is",
                             known.job.id);
    }
    KubeReply reply = Write(KubeRequest{"PATCH", PathOf(known.kube) + "?fieldManager=allot",
                                        SizePatch(known.kube, version, workers)});
    done = reply.ToStatus("size of job " + known.job.id);
    const bool conflict = reply.Is("Conflict");
    if (conflict) reply = client_.Do(KubeRequest{"GET", PathOf(known.kube)});
    if (reply.ok()) {
      const std::lock_guard lock(client_.mutex());
      managed_jobs_.Put(reply.body);
    }
    if (!conflict) break;
  }
  if (!done.ok()) return done;
  std::uint64_t version = 0;
  return TakeNewest(known, &version);
}

}  // namespace allot
