#pragma once
// Jobs and workers on a Slurm cluster. Users submit ordinary scripts to a partition that is down;
// the daemon, beside slurmctld and as its user, has them run.
//
// A job that may be resized while it trains (hot) runs as its own script, which holds no GPU and
// says `allot-elastic run -- PROGRAM` (src/elastic/launcher.h), and a worker job a GPU, submitted
// for the same user on an exact node. No worker is special, so that any may leave. Other jobs are
// moved to nodes with GPUs as they are, and resized by being requeued. What was done is written
// into Slurm's records (slurm_tags.h); a daemon that restarts reads it from there.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "clients/slurm/slurm_back_end.h"
#include "live/runtimes/runtime.h"
#include "live/runtimes/slurm/cluster_claim.h"
#include "live/runtimes/slurm/gpu_limits.h"
#include "live/runtimes/slurm/idle_times.h"
#include "live/runtimes/slurm/job_nodes.h"
#include "live/runtimes/slurm/job_place.h"
#include "live/runtimes/slurm/slurm_chores.h"
#include "live/runtimes/slurm/slurm_client.h"
#include "live/runtimes/slurm/slurm_options.h"
#include "live/runtimes/slurm/slurm_tags.h"
#include "live/runtimes/slurm/user_notes.h"
#include "live/workers/worker_hub.h"

namespace allot {

class SlurmRuntime : public Runtime {
 public:
  explicit SlurmRuntime(const SlurmOptions& options);
  SlurmRuntime(SlurmOptions options, OpenedSlurm slurm);  // by this way

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

  // Facts about jobs and workers that are kept beside the last snapshot: as many as Slurm lists,
  // not as there ever were.
  std::size_t remembered() const;

 private:
  struct UserJob {  // a job, by the daemon's name of it
    std::shared_ptr<const SlurmJob> slurm;
    JobTag tag;
    bool tagged = false;  // its record in Slurm holds the tag
    bool placed = false;  // it is in the partition where jobs run
    bool told = true;     // of what is wrong with it its user knows
    std::shared_ptr<const RuntimeJob> job;
    std::int64_t look = 0;  // the last that showed it

    // By other means than the end of its workers.
    bool ended_otherwise() const {
      return job->state == JobState::kFinished || job->state == JobState::kCancelled || tag.failed;
    }
  };
  struct WorkerJob {
    std::shared_ptr<const SlurmJob> slurm;
    WorkerTag tag;
  };

  struct NodeUp {
    bool up = true;
    bool drained = false;
  };

  static Seconds Monotonic();
  const SlurmSnapshot& TakeSlurmSnapshot();  // until the next one
  struct Reading {                           // of one snapshot
    JobNodes nodes;
    std::set<std::uint32_t> beyond_limit;  // tasks of arrays
    SlurmJobs arrays;                      // whose tasks are to be jobs of their own
  };
  JobNodes ReadNodes(const SlurmSnapshot& snapshot, RuntimeSnapshot* seen);
  UserJob* AsBefore(const std::shared_ptr<const SlurmJob>& record);
  void ReadUserJob(const std::shared_ptr<const SlurmJob>& record, Reading* reading);
  void LeaveToSlurm(const SlurmJob& slurm);
  void ReadWhatItMayHave(const UserJob& user_job, Reading* reading, RuntimeJob* job);
  void NotUnderstood(const std::string& why, UserJob* user_job, RuntimeJob* job);
  void ReadState(const UserJob& user_job, RuntimeJob* job) const;
  void DropUnlisted();
  void SplitArrays(const SlurmSnapshot& snapshot, const SlurmJobs& arrays);
  void LengthenTimes(const std::vector<WorkerJob>& worker_jobs);
  void GiveBackRequeued();
  void EndStrays(std::vector<WorkerJob>* worker_jobs);
  void DropMemories(const std::set<std::string>& workers);
  void CheckType(const RuntimeJob& job, const SlurmJob& slurm) const;
  void ReadWorkerJob(const UserJob& user_job, const WorkerJob& worker_job, RuntimeSnapshot* seen);
  void ReadShares(const UserJob& user_job, RuntimeSnapshot* seen);
  Status GiveBack(UserJob& user_job);  // to the partition where jobs wait
  Status StartWorkerJobs(UserJob& user_job, std::span<const WorkerRequest> workers);
  Status StartItself(UserJob& user_job, std::span<const WorkerRequest> workers);
  std::string PartOn(const std::string& node, const std::string& gpu_type) const;
  SlurmSubmission WorkerJobOf(const UserJob& user_job, const WorkerRequest& worker,
                              const WorkerTag& tag);
  const std::string& TokenOf(const std::string& job);
  std::filesystem::path TokenFile(const std::string& job) const;
  std::unique_ptr<ClusterClaim> ClaimCluster();
  std::filesystem::path ClusterFile(const char* name) const;  // of claim_
  Status MayAct() const;
  std::string HubAddress();

  const SlurmOptions options_;
  SlurmClient client_;
  const std::unique_ptr<ClusterClaim> claim_;  // null: a dry run, or a folder that is not ours
  const std::string key_;                      // of workers' tokens
  const std::vector<std::string> addresses_;   // where workers look for the daemon in charge
  WorkerHub hub_;
  bool has_snapshot_ = false;
  bool unreachable_ = false;  // the last snapshot failed
  Seconds settled_at_ = 0;    // nothing is started before; monotonic
  std::int64_t looks_ = 0;
  std::map<std::string, UserJob> user_jobs_;
  std::unordered_map<std::uint32_t, UserJob*> by_number_;  // of these, as Slurm numbers them
  std::vector<NodeKind> kinds_;                   // of the nodes that user_jobs_ were read for
  GpuLimits gpu_limits_;                          // that they were read for
  std::map<std::string, WorkerJob> worker_jobs_;  // by worker
  NodeParts parts_;                               // by the daemon's name of the node
  std::map<std::string, NodeUp> node_up_;         // as last known; by Slurm's name
  std::map<std::string, std::string> tokens_;     // of jobs
  std::set<std::string> forgotten_;               // jobs; Slurm lists them a while longer
  std::set<std::string> watched_;                 // workers that we have seen before their end
  std::map<std::string, RuntimeWorker> ended_;    // workers, as they were judged once
  std::set<std::string> stopped_;                 // workers that we ended
  std::map<std::string, Seconds> requeued_;       // jobs that are to wait again: when; monotonic
  std::map<std::string, std::string> failures_;   // jobs that were given up, and why
  SlurmChores chores_;
  UserNotes notes_{client_, chores_};
  IdleTimes idle_;
};

}  // namespace allot
