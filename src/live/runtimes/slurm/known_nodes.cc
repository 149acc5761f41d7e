#include "live/runtimes/slurm/known_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "clients/slurm/resources.h"
#include "live/runtimes/slurm/foreign_gpus.h"

namespace allot {
namespace {

// Of a node's memory, where workers get parts of it. The scripts of jobs need the rest.
constexpr std::uint64_t kPercentForWorkers = 90;

}  // namespace

JobNodes KnownNodes::Read(const SlurmSnapshot& snapshot, const std::string& partition,
                          SlurmMemory memory, RuntimeSnapshot* seen) {
  const ForeignGpus foreign(snapshot);
  std::vector<NodeOffer> all;
  for (const SlurmNode& node : snapshot.nodes) {
    const auto& in = node.partitions;
    if (std::find(in.begin(), in.end(), partition) == in.end()) continue;
    // Slurm drains a node that registers with fewer GPUs than before, but what runs there may go
    // on.
    const bool closed =
        node.state.IsDrained() && node.state.Has(SlurmNodeFlag::kInvalidRegistration);
    if (!node.state.IsUnknown()) {
      states_[node.name] = node.state.IsUsableNow() || closed ? NodeState::kUp
                           : node.state.IsDrained()           ? NodeState::kDrained
                                                              : NodeState::kDown;
    }
    const std::vector<SlurmGpuType> types = GpuTypesOfGres(node.gres);
    const GpuCount gpus_of_node =
        std::accumulate(types.begin(), types.end(), GpuCount{0},
                        [](GpuCount sum, const SlurmGpuType& type) { return sum + type.count; });
    const std::uint64_t memory_of_gpu =
        node.memory_mib * kPercentForWorkers / 100 /
        static_cast<std::uint64_t>(std::max(GpuCount{1}, gpus_of_node));
    for (const SlurmGpuType& gpus : types) {
      const bool whole = types.size() == 1;
      RuntimeNode shown;
      shown.name = whole ? node.name : fmt::format("{}:{}", node.name, gpus.name);
      if (!gpus.name.empty()) shown.gpu_type = gpus.name;
      shown.capacity.gpus = gpus.count;
      shown.capacity.cpus = node.cpus;
      shown.state = states_[node.name];
      shown.closed = closed;
      shown.taken = foreign.TakenOf(node, gpus);
      if (const auto& next = node.next_reserved) {
        shown.recall = NodeRecall{.from = static_cast<double>(next->first),
                                  .until = static_cast<double>(next->second),
                                  .binds_limits = true};
      }
      if (memory != SlurmMemory::kNotCounted) {
        shown.memory = {node.memory_mib, foreign.MemoryOn(node)};
      }
      parts_[shown.name] = {node.name, gpus.name, whole, memory_of_gpu,
                            node.next_reserved ? node.next_reserved->first : 0};
      all.push_back({shown.name, shown.gpu_type, gpus.count, &node});
      seen->nodes.push_back(std::move(shown));
    }
  }
  return JobNodes(std::move(all));
}

std::string KnownNodes::PartOn(const std::string& node, const std::string& gpu_type) const {
  const std::string part = fmt::format("{}:{}", node, gpu_type);
  return parts_.contains(part) ? part : node;
}

}  // namespace allot
