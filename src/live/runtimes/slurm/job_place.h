#pragma once
// Where a job that runs as its own script is to run, in Slurm's words: nodes, and the GPUs on each.
// A request keeps the type, or to have none, that it was submitted with (ADR 36): where it has
// none, the node alone decides. Pure.

#include <cstdint>
#include <ctime>
#include <map>
#include <span>
#include <string>

#include "live/runtimes/runtime.h"
#include "live/runtimes/slurm/slurm_client.h"

namespace allot {

// GPUs of one type of a Slurm node: a node as the daemon knows it.
struct NodePart {
  std::string node;                 // Slurm's name
  std::string gpu_type;             // as Slurm says; "": without one
  bool whole = true;                // all GPUs of the Slurm node
  std::uint64_t memory_of_gpu = 0;  // MiB: of the node, for a worker that asks for none
  std::time_t reserved_from = 0;    // for others; 0: it is not
};
using NodeParts = std::map<std::string, NodePart>;  // by the daemon's name

// Sets nodes, their number and GPUs of `change`. `job`: for people; `asked`: GPUs, as Slurm shows
// what it was submitted with; `workers`: at least one, all on `parts`. Refused, naming both, where
// Slurm cannot give the job these.
Status PlaceJob(const std::string& job, const std::string& asked,
                std::span<const WorkerRequest> workers, const NodeParts& parts,
                SlurmChange* change);

}  // namespace allot
