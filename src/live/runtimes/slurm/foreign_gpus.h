#pragma once
// GPUs and memory of a Slurm cluster that are not the daemon's to give: others hold or have
// reserved them, or have left no core for who would use the GPUs. The Slurm runtime asks at every
// snapshot.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "clients/slurm/resources.h"
#include "live/runtimes/slurm/slurm_client.h"
#include "live/runtimes/slurm/slurm_tags.h"

namespace allot {

class ForeignGpus {
 public:
  explicit ForeignGpus(const SlurmSnapshot& snapshot);

  // Of the GPUs `of` of this node, 0 to all of them.
  GpuCount TakenOf(const SlurmNode& node, const SlurmGpuType& of) const;
  // MiB that jobs which are not ours hold on this node.
  std::uint64_t MemoryOn(const SlurmNode& node) const;

 private:
  using ByNodeAndType = std::map<std::pair<std::string, std::string>, GpuCount>;
  // Of jobs that asked for no type Slurm may not say which they hold: all types are the less.
  static GpuCount Count(const ByNodeAndType& gpus, const std::string& node, const SlurmGpuType& of);

  std::set<std::string> whole_;  // nodes that one job has to itself
  ByNodeAndType foreign_;        // allocated to jobs that are not ours
  ByNodeAndType guests_;         // of these, by jobs that run in a reservation
  ByNodeAndType ours_;
  std::map<std::string, std::uint64_t> our_memory_;  // by node, MiB
};

}  // namespace allot
