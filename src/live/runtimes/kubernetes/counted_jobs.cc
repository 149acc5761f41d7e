#include "live/runtimes/kubernetes/counted_jobs.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "live/runtimes/kubernetes/counted_job.h"

namespace allot {
namespace {

constexpr int kMostTries = 3;  // of a patch, where the Job has changed meanwhile

}  // namespace

CountedJobs::CountedJobs(const KubernetesOptions& options, const Cluster& cluster)
    : options_(options), cluster_(cluster) {}

void CountedJobs::CountPods(std::span<KnownJob* const> counted,
                            const std::vector<WorkerPod>& pods) const {
  struct Pods {
    GpuCount succeeded = 0, live = 0;
  };
  std::map<std::pair<std::string, std::string>, Pods> of_job;  // by namespace and uid
  for (const WorkerPod& pod : pods) {
    if (!pod.worker.empty()) continue;
    Pods& own = of_job[{pod.space, pod.job_uid}];
    own.succeeded += pod.phase == PodPhase::kSucceeded ? 1 : 0;
    own.live += pod.ended() || pod.deleting ? 0 : 1;
  }
  for (KnownJob* known : counted) {
    const Pods& own = of_job[{known->kube.space, known->kube.uid}];
    known->most_pods = MostPods(known->kube, own.succeeded, own.live);
    // Its condition Complete may come later.
    const bool done = known->most_pods == 0 && known->kube.counted->completions >= 0;
    if (done && !known->end) known->end = JobEnd{JobState::kFinished, ""};
  }
}

void CountedJobs::ReadRequest(const KnownJob& known, RuntimeJob* job) const {
  const ManagedJob& kube = known.kube;
  ReadCountedRequest(kube, options_.gpu, cluster_.nodes.GpuTypes(), job);
  job->reason = ResizedByAnother(kube) + SuspendedByAnother(kube);
  if (!job->reason.empty()) job->state = JobState::kHeld;
  if (!known.most_pods || *known.most_pods >= job->max_gpus) return;
  job->at_most = GpuLimit{*known.most_pods, "its Job has no more pods left to run"};
  job->min_gpus = std::clamp(*known.most_pods, 1, job->min_gpus);
}

void CountedJobs::ReadWorkers(std::span<KnownJob* const> counted,
                              const std::vector<WorkerPod>& pods, RuntimeSnapshot* seen) {
  std::map<std::string, std::vector<WorkerPod>> of_job;  // by uid
  for (const WorkerPod& pod : pods) {
    if (pod.worker.empty() && !pod.ended()) of_job[pod.job_uid].push_back(pod);
  }
  GpusOfNodes held;
  for (const RuntimeWorker& worker : seen->workers) {
    if (worker.state != WorkerState::kEnded) held[worker.node] |= worker.gpus;
  }
  for (const KnownJob* known : counted) {
    Match(*known, of_job[known->kube.uid]);
    workers_[known->job.id].KeepGpus(&held);
  }
  for (KnownJob* known : counted) {
    CountedWorkers& workers = workers_[known->job.id];
    workers.TakeGpus(&held);
    workers.Show(&seen->workers);
    Shrink(*known);
  }
}

void CountedJobs::Match(const KnownJob& known, const std::vector<WorkerPod>& pods) {
  CountedWorkers& workers = workers_[known.job.id];
  const JobState state = known.job.state;
  if (state == JobState::kActive && !workers.begun()) {
    workers.Begin(known.job.id, WorkersOf(known.kube));
  }
  if (state == JobState::kHeld && !known.kube.suspended) {  // another resizes it
    cluster_.events.Warn(known.kube, "LeftAlone", known.job.reason);
    workers.LetGo("allot leaves its Job alone");
    return;
  }
  if (state != JobState::kActive && state != JobState::kHeld) workers.StopAll();
  std::vector<WorkerPod> own;
  own.reserve(pods.size());
  for (const WorkerPod& pod : pods) {
    const bool lost = !pod.node.empty() && cluster_.nodes.HaveLost(pod);
    // Without its Job a pod ends, which another watch may tell later, or is somebody else's.
    const bool its = !known.gone || pod.deleting || workers.Holds(pod.uid);
    if (pod.space == known.kube.space && !lost && its) own.push_back(pod);
  }
  workers.Match(own, known.most_pods);
}

void CountedJobs::Shrink(KnownJob& known) {
  const CountedWorkers& workers = workers_[known.job.id];
  const GpuCount wanted = workers.wanted();
  const bool ours = known.job.state == JobState::kActive && workers.begun();
  const GpuCount runs = std::min(known.kube.size(), known.most_pods.value_or(known.kube.size()));
  if (!ours || options_.dry_run || wanted >= runs) return;
  const Status done = WriteSize(known);
  if (!done.ok()) cluster_.events.Warn(known.kube, "NotResized", done.message());
}

Status CountedJobs::Start(KnownJob& known, std::span<const WorkerRequest> workers) {
  CountedWorkers& counted = workers_[known.job.id];
  int gated = 0;
  {
    const std::lock_guard lock(cluster_.client.mutex());
    cluster_.pods.ForEach([&](const WorkerPod& pod) {
      const bool own = pod.worker.empty() && pod.job_uid == known.kube.uid;
      gated += own && pod.gated && !pod.ended() ? 1 : 0;
    });
  }
  std::vector<WorkerRequest> missing;
  for (const WorkerRequest& worker : workers) {
    if (!counted.Has(worker.worker)) missing.push_back(worker);
  }
  if (missing.empty() && counted.wanted() == known.kube.size()) return Status::Ok();
  if (gated > 0) {
    return Status::Refused("job {} grows no further while {} of its pods wait for their quota",
                           known.job.id, gated);
  }
  counted.Add(missing);
  Status done = WriteSize(known);
  if (!done.ok()) {
    counted.Withdraw(missing);
    cluster_.events.Warn(known.kube, "NotResized", done.message());
  }
  return done;
}

Status CountedJobs::Stop(const KnownJob& known, const std::string& worker, StopMode mode) {
  CountedWorkers& counted = workers_[known.job.id];
  counted.Stop(worker);
  const auto uid = counted.PodOf(worker);
  if (mode != StopMode::kKill || !uid) return Status::Ok();
  std::optional<WorkerPod> pod;
  {
    const std::lock_guard lock(cluster_.client.mutex());
    if (const WorkerPod* found = cluster_.pods.Find(*uid)) pod = *found;
  }
  // Its controller has chosen it: only then does nobody replace it.
  if (!pod || !pod->deleting) return Status::Ok();
  const KubeReply reply = cluster_.writer.Write(DeletionOf(*pod, kKillGrace));
  return reply.Is("NotFound") || reply.Is("Conflict") ? Status::Ok()
                                                      : reply.ToStatus("pod " + pod->name);
}

// What the server knows of the Job by now, so that the precondition of the patch is no mere form.
Status CountedJobs::TakeNewest(KnownJob& known, std::uint64_t* version) {
  const std::lock_guard lock(cluster_.client.mutex());
  const ManagedJob* newest = cluster_.jobs.Find(known.kube.uid);
  if (newest == nullptr) return Status::Refused("job {} is no longer there", known.job.id);
  known.kube = *newest;
  *version = cluster_.jobs.VersionOfUid(known.kube.uid);
  if (!known.kube.counted) return Status::Refused("job {} is no longer ours", known.job.id);
  const std::string why = ResizedByAnother(known.kube) + SuspendedByAnother(known.kube);
  return why.empty() ? Status::Ok() : Status::Refused("{}", why);
}

Status CountedJobs::WriteSize(KnownJob& known) {
  const std::vector<std::int64_t> workers = workers_[known.job.id].numbers();
  Status done = Status::Ok();
  for (int tries = 0; tries < kMostTries; ++tries) {
    std::uint64_t version = 0;
    done = TakeNewest(known, &version);
    if (!done.ok()) return done;
    if (workers.empty() && known.kube.counted->queued) {
      return Status::Refused("job {} is stopped by Kueue alone, in whose queue it is",
                             known.job.id);
    }
    KubeReply reply = cluster_.writer.Write(KubeRequest{
        "PATCH", JobPath(known.kube) + kFieldManager, SizePatch(known.kube, version, workers)});
    done = reply.ToStatus("size of job " + known.job.id);
    const bool conflict = reply.Is("Conflict");
    if (conflict) reply = cluster_.client.Do(KubeRequest{"GET", JobPath(known.kube)});
    if (reply.ok()) {
      const std::lock_guard lock(cluster_.client.mutex());
      cluster_.jobs.PutWritten(reply.body);
    }
    if (!conflict) break;
  }
  if (!done.ok()) return done;
  std::uint64_t version = 0;
  return TakeNewest(known, &version);
}

}  // namespace allot
