#include "live/runtimes/slurm/job_place.h"

#include <bit>
#include <vector>

#include "clients/slurm/resources.h"
#include "core/strings.h"

namespace allot {

Status PlaceJob(const std::string& job, const std::string& asked,
                std::span<const WorkerRequest> workers, const NodeParts& parts,
                SlurmChange* change) {
  const std::vector<SlurmGpuType> words = GpuTypesOfGres(asked);
  const bool typed = !words.empty() && !words.front().name.empty();
  const NodePart& first = parts.at(workers.front().node);
  const int gpus = std::popcount(workers.front().gpus);
  std::vector<std::string> nodes;
  for (const WorkerRequest& worker : workers) {
    const NodePart& part = parts.at(worker.node);
    if (std::popcount(worker.gpus) != gpus || part.gpu_type != first.gpu_type) {
      return Status::Refused(
          "Slurm gives a job the same GPUs on each of its nodes, not {} '{}' on {} and {} '{}' on "
          "{}",
          gpus, first.gpu_type, workers.front().node, std::popcount(worker.gpus), part.gpu_type,
          worker.node);
    }
    if (typed ? part.gpu_type != words.front().name : !part.whole) {
      return Status::Refused(
          "Slurm gives a job GPUs of the type that it was submitted with, or those of a node that "
          "has one type: job {} asks for '{}', {} has '{}'",
          job, asked, worker.node, part.gpu_type);
    }
    nodes.push_back(part.node);
  }
  change->nodes = Join(nodes, ",");
  change->node_count = static_cast<std::uint32_t>(nodes.size());
  change->gres = GresRequest(gpus, typed ? first.gpu_type : "");
  return Status::Ok();
}

}  // namespace allot
