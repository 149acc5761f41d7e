#pragma once
// The machines: nodes in order, each with a GPU type and a capacity; one without capacity
// is down.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/types.h"
#include "perf/configuration.h"
#include "perf/gpu_type_spec.h"

namespace allot {

inline constexpr GpuCount kMaxGpusPerNode = 64;  // a node's GPUs are a bit mask

// The mask of a node's first `gpus` GPUs.
constexpr std::uint64_t GpuMask(GpuCount gpus) {
  return gpus >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << gpus) - 1;
}

class GpuSlowness;  // cluster/gpu_slowness.h
class Topology;     // cluster/topology.h

struct Node {
  GpuTypeIndex type = 0;
  Resources capacity;

  friend bool operator==(const Node&, const Node&) = default;
};

class ClusterSpec {
 public:
  // "16x4" (nodes x GPUs), "6x4:v100,3x8:a100" (types), "6x4x32:v100" (CPUs a node; default 8 a
  // GPU), "6x4x32x256:v100@16" (GB of memory a node, and a GPU; default: not limited), or the path
  // of an existing file with such parts, one or more a line ('#' comments), or of a node list that
  // another program wrote (cluster/cluster_format.h): docs/formats/cluster.md. UsageError when
  // malformed (in a file: DataError with file and line), DataError when the cluster has no GPU.
  static ClusterSpec Parse(std::string_view text);

  // Appends nodes; a new type gets the next index. Contract (checked): count >= 1, 0..64 GPUs.
  // Nodes with GPUs or CPUs and no memory are not limited in memory.
  void AddNodes(std::int32_t count, const Resources& capacity, std::string_view type);

  // The index of the type. A new one gets the next index, and has no nodes yet.
  GpuTypeIndex AddType(std::string_view type);

  // GB of memory of one GPU of the type; 0: not limited, or not known.
  void SetGpuMemory(GpuTypeIndex type, double gigabytes);
  double gpu_memory_gb(GpuTypeIndex type) const {
    return gpu_memory_gb_[static_cast<std::size_t>(type)];
  }

  // The type's nodes are known to have the CPUs that they were added with: jobs that ask for CPUs
  // are limited by them. Else their number is a guess, and counts only for models with units of
  // CPUs.
  void LimitCpus(GpuTypeIndex type);

  // Changes what one node has (nothing: it is down); totals follow. Memory as in AddNodes.
  void SetCapacity(NodeIndex node, const Resources& capacity);

  // Names the node that was added last. Either all nodes have names or none.
  void NameLastNode(std::string name) { node_names_.push_back(std::move(name)); }
  // By node, as the file of the cluster has them; empty where it names none. A node with GPUs of
  // several types is one node for each, all of one name.
  const std::vector<std::string>& node_names() const { return node_names_; }

  // Where its nodes, all of them, lie in the network; null: everywhere alike.
  void SetTopology(std::shared_ptr<const Topology> topology) { topology_ = std::move(topology); }
  const Topology* topology() const { return topology_.get(); }
  // How GPUs of one type differ, made for its nodes; null: they are alike.
  void SetSlowness(std::shared_ptr<const GpuSlowness> slowness) { slowness_ = std::move(slowness); }
  const GpuSlowness* slowness() const { return slowness_.get(); }

  const std::vector<Node>& nodes() const { return nodes_; }
  // What nodes have, as arrays of their own to copy from: masks of GPUs, numbers of CPUs.
  const std::vector<std::uint64_t>& gpu_masks() const { return gpu_masks_; }
  const std::vector<std::int32_t>& cpus() const { return cpus_; }
  const std::vector<std::string>& types() const { return types_; }  // "gpu" when unnamed
  const Resources& total() const { return total_; }
  const Resources& total_of(GpuTypeIndex type) const {
    return type_total_[static_cast<std::size_t>(type)];
  }
  std::vector<GpuCount> type_capacity() const;
  // What tables depend on (perf/gpu_type_spec.h), by type.
  std::vector<GpuTypeSpec> type_specs() const;
  // Of the nodes, where one states any: to copy from; empty where none does.
  const std::vector<std::int64_t>& memory_mb() const { return memory_mb_; }
  std::string ToString() const;  // parses back to an equal spec
  std::string InWords() const;   // "13 nodes with 8 a100, 13 with 4 v100": GPUs only

 private:
  std::vector<Node> nodes_;
  std::vector<std::string> node_names_;
  std::shared_ptr<const Topology> topology_;
  std::shared_ptr<const GpuSlowness> slowness_;
  std::vector<std::uint64_t> gpu_masks_;
  std::vector<std::int32_t> cpus_;
  std::vector<std::string> types_;
  std::vector<std::int64_t> memory_mb_;
  std::vector<double> gpu_memory_gb_;  // by type
  std::vector<bool> limits_cpus_;      // by type
  std::vector<Resources> type_total_;
  Resources total_;
};

}  // namespace allot
