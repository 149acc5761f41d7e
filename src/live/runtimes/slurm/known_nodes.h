#pragma once
// The nodes of a Slurm cluster as the daemon names and sees them: a machine with GPUs of several
// types is one for each type. Used by SlurmRuntime and SlurmUserJobs. Not thread-safe.

#include <map>
#include <string>

#include "clients/slurm/slurm_records.h"
#include "live/runtimes/runtime.h"
#include "live/runtimes/slurm/job_nodes.h"
#include "live/runtimes/slurm/job_place.h"

namespace allot {

class KnownNodes {
 public:
  // Appends the nodes of the partition that have GPUs to `seen`. A node that Slurm does not know at
  // the moment stays as it was. The answer is good for as long as the snapshot.
  // `memory`: what Slurm does about memory in the partition.
  JobNodes Read(const SlurmSnapshot& snapshot, const std::string& partition, SlurmMemory memory,
                RuntimeSnapshot* seen);

  const NodeParts& parts() const { return parts_; }  // that ever were
  // The daemon's name of GPUs that Slurm has given.
  std::string PartOn(const std::string& node, const std::string& gpu_type) const;

 private:
  NodeParts parts_;
  std::map<std::string, NodeState> states_;  // as last known; by Slurm's name
};

}  // namespace allot
