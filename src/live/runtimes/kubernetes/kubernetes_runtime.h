#pragma once
// Jobs and workers on a Kubernetes cluster. Users submit batch/v1 Jobs with `spec.managedBy:
// allot.dev/scheduler`: allot is the controller of these Jobs. Nothing is polled: nodes, Jobs and
// our pods are kept known by watches.
//
// A worker is a pod of its own, made from the Job's template and owned by the Job, so that any
// worker may leave. The cluster's own scheduler places it on the one node that it may go to, and
// stays the judge of what fits. What a later daemon must know is written into annotations of the
// pods and into the status of the Jobs; a pod that is being deleted is a worker that was stopped.
//
// Of counted Jobs Kubernetes' own controller runs the pods, and allot sets their number
// (counted_jobs.h).

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "clients/kubernetes/api/kube_client.h"
#include "clients/kubernetes/node.h"
#include "live/runtimes/kubernetes/counted_jobs.h"
#include "live/runtimes/kubernetes/job_events.h"
#include "live/runtimes/kubernetes/job_status.h"
#include "live/runtimes/kubernetes/join_reviews.h"
#include "live/runtimes/kubernetes/known_job.h"
#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/kubernetes/kube_writer.h"
#include "live/runtimes/kubernetes/kubernetes_options.h"
#include "live/runtimes/kubernetes/lease_keeper.h"
#include "live/runtimes/kubernetes/shown_nodes.h"
#include "live/runtimes/kubernetes/worker_spec.h"
#include "live/runtimes/runtime.h"
#include "live/runtimes/worker_end.h"
#include "live/workers/worker_hub.h"

namespace allot {

class KubernetesRuntime : public Runtime {
 public:
  explicit KubernetesRuntime(KubernetesOptions options);

  RuntimeSnapshot TakeSnapshot() override;
  Status Start(const std::string& job, std::span<const WorkerRequest> workers) override;
  Status Stop(const std::string& worker, StopMode mode) override;
  Status Announce(const std::string& job, const Membership& membership) override;
  Status SetBatch(const std::string& job, const WorkerBatchOrder& batch) override;
  Status SetCheckpointEvery(const std::string& job, Seconds every) override;
  JobProgress Progress(const std::string& job) override;
  Status Fail(const std::string& job, const std::string& reason) override;
  void Explain(const std::string& job, const std::optional<JobTrouble>& trouble) override;
  Status Cancel(const std::string& job) override;
  void Forget(const std::string& job) override;
  void Wait(Seconds at_most) override;
  void Wake() override { hub_.Wake(); }

 private:
  struct KnownWorker {
    WorkerPod pod;
    RuntimeWorker seen;
    bool stopped = false;
    bool watched = false;  // by this daemon, alive
    bool shown = false;    // as ended
  };

  // Snapshots.
  void WaitForFirstLists(std::unique_lock<std::mutex>& lock);
  void CheckThatAllIsKnown() const;
  void ReadJobs();
  void ReadAsked(KnownJob& known);
  void ReadJob(KnownJob& known);
  void ReadWorkers(const std::vector<WorkerPod>& pods);
  void ReadWorker(KnownJob& known, const WorkerPod& pod);
  KnownWorker& Meet(const std::string& job, const WorkerPod& pod);
  void EndWorker(const KnownJob& known, WorkerExit exit, const std::string& reason,
                 KnownWorker* worker);
  void EndFinishedTeams(const std::vector<WorkerPod>& pods);
  void WriteStatus();
  void RemoveEndedPods();

  // Starts and stops.
  KnownJob* Find(const std::string& job);
  std::string PodUidOf(const std::string& worker);  // "": no pod
  bool IsOwnPod(const WorkerPod& pod);              // of a worker of the Job that owns it
  Status CheckStart(const KnownJob& known, std::span<const WorkerRequest> workers) const;
  Status GiveToken(KnownJob& known);
  Status PostPods(KnownJob& known, const std::vector<KubeRequest>& requests,
                  const std::vector<WorkerRequest>& missing, bool identities);
  bool IsOurPod(const KnownJob& known, const WorkerRequest& worker);
  Status EndJob(const std::string& job, JobState state, const std::string& reason);
  void Keep(const KubeReply& pod);
  void Admit(KnownJob& known);
  std::string TokenOf(const KnownJob& known) const;
  std::string SecretOf(const KnownJob& known) const;
  std::unique_ptr<LeaseKeeper> WaitForLease() const;
  std::string ListenAddress() const;
  std::string DaemonAddress() const;

  const KubernetesOptions options_;
  const std::string key_;
  const std::unique_ptr<LeaseKeeper> lease_;  // ours before anything else begins; null: none
  WorkerHub hub_;
  ObjectStore<KubeNode> kube_nodes_;
  ObjectStore<ManagedJob> managed_jobs_;
  ObjectStore<WorkerPod> pods_;
  ListWatch watch_nodes_, watch_jobs_, watch_pods_;
  std::condition_variable changed_;
  bool has_snapshot_ = false;
  ShownNodes nodes_;
  KubeWriter writer_;
  JobEvents events_;
  CountedJobs counted_;
  JoinReviews reviews_;
  std::map<std::string, KnownJob> jobs_;  // by the daemon's name
  std::map<std::string, std::string> job_of_uid_;
  std::map<std::string, KnownWorker> workers_;  // of jobs that are not forgotten
  std::set<std::string> withdrawn_;             // whose start was refused; being deleted
  std::vector<WorkerPod> ended_pods_;           // to be removed
  KubeClient client_;                           // last: its thread uses the rest
};

}  // namespace allot
