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
// (kubernetes_counted.cc).

#include <condition_variable>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clients/kubernetes/api/kube_client.h"
#include "clients/kubernetes/node.h"
#include "core/natural_order.h"
#include "live/runtimes/kubernetes/counted_workers.h"
#include "live/runtimes/kubernetes/job_status.h"
#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/kubernetes/kubernetes_options.h"
#include "live/runtimes/kubernetes/lease_keeper.h"
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
  JobProgress Progress(const std::string& job) override;
  Status Fail(const std::string& job, const std::string& reason) override;
  void Explain(const std::string& job, const JobTrouble& trouble) override;
  Status Cancel(const std::string& job) override;
  void Forget(const std::string& job) override;
  void Wait(Seconds at_most) override;
  void Wake() override { hub_.Wake(); }

 private:
  static constexpr int kKillGrace = 1;  // seconds. 0 would free GPUs while processes still end

  struct KnownJob {
    ManagedJob kube;
    RuntimeJob job;
    RuntimeJob asked;        // what its Job says, whatever became of it
    bool fresh = true;       // its Job has changed since that was read
    bool admitted = false;   // its workers may join
    bool gone = false;       // its Job is deleted
    bool forgotten = false;  // by the daemon
    bool has_secret = false;
    std::optional<JobEnd> end;  // that it is to have, or has
    int active = 0;             // pods
    int ready = 0;
    std::string told;        // what its user was told last, by an event
    bool explained = false;  // its user was told what is wrong with it
    std::string warned;      // the last refusal of its status
    CountedWorkers counted;
  };
  struct KnownWorker {
    WorkerPod pod;
    RuntimeWorker seen;
    bool stopped = false;
    bool watched = false;  // by this daemon, alive
    bool shown = false;    // as ended
  };
  struct PendingIdentity {
    std::uint64_t join = 0;  // the hub's number
    std::string worker;
    std::future<KubeReply> reply;
  };

  // Looking (kubernetes_snapshot.cc).
  void WaitForFirstLists(std::unique_lock<std::mutex>& lock);
  void CheckThatAllIsKnown() const;
  void ReadNodes(RuntimeSnapshot* seen);
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

  // Counted Jobs (kubernetes_counted.cc).
  void ReadCountedJob(const ManagedJob& kube, RuntimeJob* job);
  void ReadCountedWorkers(const std::vector<WorkerPod>& pods, RuntimeSnapshot* seen);
  void MatchCounted(KnownJob& known, const std::vector<WorkerPod>& pods);
  void ShrinkCounted(KnownJob& known);
  Status StartCounted(KnownJob& known, std::span<const WorkerRequest> workers);
  Status StopCounted(KnownJob& known, const std::string& worker, StopMode mode);
  Status WriteSize(KnownJob& known);
  Status TakeNewest(KnownJob& known, std::uint64_t* version);

  // Who joins (kubernetes_identity.cc).
  bool GivesIdentities();
  void AskWhoJoins(std::uint64_t join, const std::string& worker, const std::string& identity);
  void AnswerJoins();
  std::string PodUidOf(const std::string& worker);  // "": no pod
  bool IsOwnPod(const WorkerPod& pod);              // of a worker of the Job that owns it

  // Doing.
  KnownJob* Find(const std::string& job);
  Status CheckStart(const KnownJob& known, std::span<const WorkerRequest> workers) const;
  Status GiveToken(KnownJob& known);
  Status PostPods(KnownJob& known, const std::vector<KubeRequest>& requests,
                  const std::vector<WorkerRequest>& missing, bool identities);
  bool IsOurPod(const KnownJob& known, const WorkerRequest& worker);
  Status EndJob(const std::string& job, JobState state, const std::string& reason);
  void TellUser(KnownJob& known, const char* reason, const std::string& message);
  void PostEvent(KnownJob& known, const JobEvent& event);
  KubeReply CountEvent(const std::string& path, const std::string& now);
  void Keep(const KubeReply& pod);
  KubeRequest DeletePod(const WorkerPod& pod, int grace) const;
  void Admit(KnownJob& known);
  std::string TokenOf(const KnownJob& known) const;
  std::string SecretOf(const KnownJob& known) const;
  std::unique_ptr<LeaseKeeper> WaitForLease() const;
  std::vector<KubeReply> Write(std::vector<KubeRequest> requests);
  KubeReply Write(KubeRequest request);
  std::string ListenAddress() const;
  std::string DaemonAddress() const;

  const KubernetesOptions options_;
  const std::string key_;
  const std::unique_ptr<LeaseKeeper> lease_;  // ours before anything else begins; null: none
  WorkerHub hub_;
  ObjectStore<KubeNode> nodes_;
  ObjectStore<ManagedJob> managed_jobs_;
  ObjectStore<WorkerPod> pods_;
  ListWatch watch_nodes_, watch_jobs_, watch_pods_;
  std::condition_variable changed_;
  bool has_snapshot_ = false;
  std::optional<bool> may_review_;  // TokenReviews; nullopt: not known yet
  std::vector<PendingIdentity> questions_;
  std::map<std::string, KnownJob> jobs_;  // by the daemon's name
  std::map<std::string, std::string> job_of_uid_;
  std::map<std::string, KnownWorker> workers_;  // of jobs that are not forgotten
  std::set<std::string> withdrawn_;             // whose start was refused; being deleted
  std::vector<RuntimeNode> shown_nodes_;        // in the order of their coming
  std::map<std::string, KubeNode, NaturalOrder> node_of_name_;  // that exist now
  std::vector<WorkerPod> ended_pods_;                           // to be removed
  KubeClient client_;                                           // last: its thread uses the rest
};

}  // namespace allot
