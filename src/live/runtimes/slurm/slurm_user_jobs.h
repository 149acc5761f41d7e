#pragma once
// Jobs of users, as Slurm's records say: what each asks for, whether it may have it now, and how it
// ended. A job that waits is read once: what its record says of it changes only with nodes and
// limits. A part of SlurmRuntime, from one thread.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "live/runtimes/slurm/gpu_limits.h"
#include "live/runtimes/slurm/job_nodes.h"
#include "live/runtimes/slurm/known_nodes.h"
#include "live/runtimes/slurm/slurm_chores.h"
#include "live/runtimes/slurm/slurm_client.h"
#include "live/runtimes/slurm/slurm_options.h"
#include "live/runtimes/slurm/slurm_tags.h"
#include "live/runtimes/slurm/user_notes.h"
#include "live/workers/worker_hub.h"

namespace allot {

struct SlurmUserJob {
  std::shared_ptr<const SlurmJob> slurm;
  JobTag tag;
  bool tagged = false;  // its record in Slurm holds the tag
  bool placed = false;  // it left the partition where jobs wait
  bool noted = true;    // its user can see what is wrong with it
  std::shared_ptr<const RuntimeJob> job;
  std::int64_t look = 0;  // the last that showed it

  // By other means than the end of its workers.
  bool ended_otherwise() const {
    return job->state == JobState::kFinished || job->state == JobState::kCancelled || tag.failed;
  }
};

class SlurmUserJobs {
 public:
  struct Slurm {  // all outlive the SlurmUserJobs
    SlurmClient& client;
    SlurmChores& chores;
    UserNotes& notes;
    const KnownNodes& nodes;
    const WorkerHub& hub;
  };
  SlurmUserJobs(const SlurmOptions& options, const Slurm& slurm);

  // One snapshot: Begin, Read for each record that is no worker's, and End, after which jobs that
  // Slurm no longer lists are gone.
  // `memory`: what Slurm does about memory where they run.
  void Begin(const SlurmSnapshot& snapshot, JobNodes nodes, SlurmMemory memory);
  void Read(const std::shared_ptr<const SlurmJob>& record);
  void End(const SlurmSnapshot& snapshot);
  std::size_t more() const { return more_; }  // tasks of arrays that will be jobs of their own
  const std::vector<SharedLimit>& limits() const { return limits_.shared(); }

  std::map<std::string, SlurmUserJob>& all() { return jobs_; }  // by the daemon's name
  SlurmUserJob* Find(const std::string& job);                   // null: Slurm does not list it
  // The job is given up; its state says so from the next snapshot on.
  void Fail(const std::string& job, const std::string& why) { failures_[job] = why; }
  void Forget(const std::string& job) { failures_.erase(job); }
  std::size_t remembered() const { return failures_.size(); }

 private:
  SlurmUserJob* AsBefore(const std::shared_ptr<const SlurmJob>& record);
  void LeaveToSlurm(const SlurmJob& slurm);
  void ReadWhatItMayHave(const SlurmUserJob& user_job, RuntimeJob* job);
  MemoryNeed MemoryOf(const SlurmJob& slurm, ResizeMode mode) const;
  void CheckType(const RuntimeJob& job, const SlurmJob& slurm) const;
  void NotUnderstood(const std::string& why, SlurmUserJob* user_job, RuntimeJob* job);
  void ReadState(const SlurmUserJob& user_job, RuntimeJob* job) const;

  const SlurmOptions& options_;
  const Slurm slurm_;
  std::map<std::string, SlurmUserJob> jobs_;
  std::unordered_map<std::uint32_t, SlurmUserJob*> by_number_;  // of these, as Slurm numbers them
  std::vector<NodeKind> kinds_;                  // of the nodes that jobs were read for
  GpuLimits limits_;                             // that they were read for
  std::map<std::string, std::string> failures_;  // jobs that were given up, and why
  std::int64_t look_ = 0;
  // Of this snapshot:
  std::optional<JobNodes> nodes_;
  SlurmMemory memory_ = SlurmMemory::kNotCounted;
  std::set<std::uint32_t> beyond_limit_;  // tasks of arrays
  SlurmJobs arrays_;                      // whose tasks are to be jobs of their own
  std::size_t more_ = 0;                  // these tasks, as far as Slurm lists them
};

}  // namespace allot
