#pragma once
// On which nodes a job may run at all: those with the features that its --constraint names, that
// its --exclude does not, and that have the cores and the memory that it asks for. The Slurm
// runtime makes one at every snapshot, and asks it for every job.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "live/runtimes/runtime_job.h"
#include "live/runtimes/slurm/slurm_client.h"

namespace allot {

// Whether a node with these features has what --constraint says: names joined by '&', '|' and
// parentheses, '!' for none of it. What is said of numbers of nodes ("[a|b]", "a*2") is for Slurm
// to judge: true.
bool Satisfies(const std::vector<std::string>& features, std::string_view constraint);

// "" where the job may run on the node, else what keeps it from it, in the words of sbatch.
std::string WhyNotOn(const SlurmNode& node, const SlurmJob& job);

// GPUs of one type on one node, as the daemon names and counts them.
struct NodeOffer {
  std::string name;
  std::string type;
  GpuCount gpus = 0;
  const SlurmNode* node = nullptr;
};

// All of an offer that Narrow depends on.
struct NodeKind {
  std::string name;
  std::string type;
  GpuCount gpus = 0;
  std::vector<std::string> features;
  int cpus = 0;
  std::uint64_t memory_mib = 0;
  bool operator==(const NodeKind&) const = default;
};

class JobNodes {
 public:
  // The Slurm nodes outlive it.
  explicit JobNodes(std::vector<NodeOffer> all) : all_(std::move(all)) {}

  // While these are the same, so is what Narrow says of a job.
  std::vector<NodeKind> Kinds() const;

  // Where not all nodes may run the job: sets which may, and takes their types and no more than
  // their GPUs as its own limits. DataError where they are too few for its least size.
  void Narrow(const SlurmJob& slurm, RuntimeJob* job);

 private:
  struct Allowed {
    std::vector<const NodeOffer*> nodes;
    std::string why;  // not all
  };
  const Allowed& AllowedTo(const SlurmJob& slurm);

  std::vector<NodeOffer> all_;
  std::map<std::string, Allowed> known_;  // by what jobs ask for: many ask for the same
};

}  // namespace allot
