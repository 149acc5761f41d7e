#pragma once
// Limits of GPUs in Slurm's accounting (GrpTRES, MaxTRESPer*, of QOS and associations), as the
// daemon knows limits. Slurm leaves pending what is beyond them: seen beforehand, no GPU waits for
// that. The Slurm runtime lets it read every snapshot, and asks it for every job whose record it
// reads: what it said of a job holds until limits change.
//
// As in Slurm, what a QOS limits is not limited by associations again, and a limit of an account
// holds for the accounts below it, too. What one job may have holds for an elastic job as a whole,
// though its workers are jobs to Slurm. Limits of one GPU type, of a partition's QOS, of jobs, CPUs
// and times are for Slurm to judge.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clients/slurm/slurm_records.h"
#include "live/runtimes/runtime.h"

namespace allot {

class GpuLimits {
 public:
  // `partition`: where jobs run.
  explicit GpuLimits(std::string partition) : partition_(std::move(partition)) {}

  // True where limits changed: all jobs are to be asked for again. O(jobs that run).
  bool Read(const SlurmSnapshot& snapshot);

  // Sets which limits the job counts against, how much it may have alone, and whether Slurm checks
  // its account: without associations that limit jobs, users may name any.
  void Limit(const SlurmJob& slurm, RuntimeJob* job);

  // Less what jobs that are not the daemon's have of them.
  const std::vector<SharedLimit>& shared() const { return shared_; }

 private:
  struct Of {  // jobs of one account, user and QOS
    std::vector<std::int32_t> shared;
    std::optional<GpuLimit> a_job;
  };
  const Of& LimitsOf(const SlurmJob& slurm);
  void Change(const SlurmLimits& limits);
  void OfQos(const SlurmQos& qos, const SlurmJob& slurm, Of* of);
  void OfAssociations(const SlurmJob& slurm, bool together, Of* of);
  void Share(const std::string& name, std::optional<int> gpus, Of* of);

  std::string partition_;
  SlurmLimits limits_;
  std::map<std::string, const SlurmQos*> qos_;
  std::map<std::string, std::vector<const SlurmAssociation*>> accounts_;
  std::map<std::string, Of> known_;
  std::map<std::string, std::int32_t> index_;  // of shared_, by name
  std::vector<GpuCount> whole_;                // of shared_, with what others have
  std::vector<SharedLimit> shared_;
};

}  // namespace allot
