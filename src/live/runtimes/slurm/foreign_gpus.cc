#include "live/runtimes/slurm/foreign_gpus.h"

#include <algorithm>

namespace allot {

ForeignGpus::ForeignGpus(const SlurmSnapshot& snapshot) {
  for (const auto& job : snapshot.jobs) {
    if ((job->nodes.empty() && job->gpus_on.empty()) || job->over()) continue;
    const bool ours = ParseWorkerTag(job->admin_comment) || ParseJobTag(job->admin_comment);
    // Ours have as much on each of their nodes; a script without GPUs has one node.
    const std::size_t nodes = job->gpus_on.size();
    if (ours && nodes == 0) our_memory_[job->nodes] += job->memory_held;
    for (const auto& on : job->gpus_on) {
      if (ours) our_memory_[on.first] += job->memory_held / nodes;
    }
    for (const auto& [node, gres] : job->gpus_on) {
      if (job->exclusive && !ours) whole_.insert(node);
      for (const SlurmGpuType& gpus : GpuTypesOfGres(gres)) {
        (ours ? ours_ : foreign_)[{node, gpus.name}] += gpus.count;
        if (!ours && job->in_reservation) guests_[{node, gpus.name}] += gpus.count;
      }
    }
  }
}

GpuCount ForeignGpus::Count(const ByNodeAndType& gpus, const std::string& node,
                            const SlurmGpuType& of) {
  const auto count = [&](const std::string& type) {
    const auto found = gpus.find({node, type});
    return found == gpus.end() ? 0 : found->second;
  };
  return std::min(count(of.name) + (of.name.empty() ? 0 : count("")), of.count);
}

std::uint64_t ForeignGpus::MemoryOn(const SlurmNode& node) const {
  const auto ours = our_memory_.find(node.name);
  return node.memory_in_use -
         std::min(node.memory_in_use, ours == our_memory_.end() ? 0 : ours->second);
}

GpuCount ForeignGpus::TakenOf(const SlurmNode& node, const SlurmGpuType& of) const {
  if (node.reserved || whole_.contains(node.name)) return of.count;
  const GpuCount foreign = Count(foreign_, node.name, of);
  const GpuCount guests = Count(guests_, node.name, of);
  const GpuCount taken = foreign + std::max(0, node.gpus_reserved - guests);
  // A GPU that nobody holds is of use only with a core that nobody holds.
  const GpuCount free = std::max(0, of.count - taken - Count(ours_, node.name, of));
  const int cores = std::max(0, node.cpus - node.cpus_in_use - node.cpus_reserved);
  return std::min(taken + free - std::min(free, cores), of.count);
}

}  // namespace allot
