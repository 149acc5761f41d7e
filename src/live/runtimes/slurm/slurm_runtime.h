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
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clients/slurm/slurm_back_end.h"
#include "live/runtimes/runtime.h"
#include "live/runtimes/slurm/cluster_claim.h"
#include "live/runtimes/slurm/idle_times.h"
#include "live/runtimes/slurm/known_nodes.h"
#include "live/runtimes/slurm/slurm_chores.h"
#include "live/runtimes/slurm/slurm_client.h"
#include "live/runtimes/slurm/slurm_options.h"
#include "live/runtimes/slurm/slurm_tags.h"
#include "live/runtimes/slurm/slurm_user_jobs.h"
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
  Status SetCheckpointEvery(const std::string& job, Seconds every) override;
  JobProgress Progress(const std::string& job) override;
  Status Fail(const std::string& job, const std::string& reason) override;
  void Explain(const std::string& job, const std::optional<JobTrouble>& trouble) override;
  Status Cancel(const std::string& job) override;
  void Forget(const std::string& job) override;
  Status LoadPastOutages(std::vector<PastOutage>* outages) override;
  void Wait(Seconds at_most) override;
  void Wake() override { hub_.Wake(); }

  // Facts about jobs and workers that are kept beside the last snapshot: as many as Slurm lists,
  // not as there ever were.
  std::size_t remembered() const;

 private:
  struct WorkerJob {
    std::shared_ptr<const SlurmJob> slurm;
    WorkerTag tag;
  };

  static Seconds Monotonic();
  const SlurmSnapshot& TakeSlurmSnapshot();  // until the next one
  void LengthenTimes(const std::vector<WorkerJob>& worker_jobs);
  void GiveBackRequeued();
  void EndStrays(std::vector<WorkerJob>* worker_jobs);
  void DropMemories(const std::set<std::string>& workers);
  void ReadWorkerJob(const SlurmUserJob& user_job, const WorkerJob& worker_job,
                     RuntimeSnapshot* seen);
  void ReadShares(const SlurmUserJob& user_job, RuntimeSnapshot* seen);
  Status GiveBack(SlurmUserJob& user_job);  // to the partition where jobs wait
  Status PlaceScript(SlurmUserJob& user_job);
  std::optional<std::string> WarningOf(const std::vector<SlurmPartition>& partitions) const;
  SlurmMemory MemoryIn(const std::string& partition) const;
  Status StartWorkerJobs(SlurmUserJob& user_job, std::span<const WorkerRequest> workers);
  Status StartItself(SlurmUserJob& user_job, std::span<const WorkerRequest> workers);
  SlurmSubmission WorkerJobOf(const SlurmUserJob& user_job, const WorkerRequest& worker,
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
  bool unreachable_ = false;                      // the last snapshot failed
  Seconds settled_at_ = 0;                        // nothing is started before; monotonic
  std::map<std::string, WorkerJob> worker_jobs_;  // by worker
  std::map<std::string, std::string> tokens_;     // of jobs
  std::set<std::string> forgotten_;               // jobs; Slurm lists them a while longer
  std::set<std::string> watched_;                 // workers that we have seen before their end
  std::map<std::string, RuntimeWorker> ended_;    // workers, as they were judged once
  std::set<std::string> stopped_;                 // workers that we ended
  std::map<std::string, Seconds> requeued_;       // jobs that are to wait again: when; monotonic
  SlurmChores chores_;
  UserNotes notes_{client_, chores_};
  KnownNodes nodes_;
  std::vector<SlurmPartition> partitions_;  // of the last snapshot
  SlurmUserJobs user_jobs_;
  IdleTimes idle_;
};

}  // namespace allot
