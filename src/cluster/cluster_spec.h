#pragma once
// The machines: nodes in order, each with a GPU type and a capacity; one without capacity
// is down.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "perf/configuration.h"

namespace allot {

inline constexpr GpuCount kMaxGpusPerNode = 64;  // a node's GPUs are a bit mask

// The mask of a node's first `gpus` GPUs.
constexpr std::uint64_t GpuMask(GpuCount gpus) {
  return gpus >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << gpus) - 1;
}

struct Node {
  GpuTypeIndex type = 0;
  Resources capacity;
};

class ClusterSpec {
 public:
  // "16x4" (nodes x GPUs), "6x4:v100,3x8:a100" (types), "6x4x32:v100" (CPUs a node; default 8 a
  // GPU), or the path of an existing file with such parts, one or more a line ('#' comments):
  // docs/formats/cluster.md. UsageError when malformed (in a file: DataError with file and line),
  // DataError when the cluster has no GPU.
  static ClusterSpec Parse(std::string_view text);

  // Appends nodes; a new type gets the next index. Contract (checked): count >= 1, 0..64 GPUs.
  void AddNodes(std::int32_t count, const Resources& capacity, std::string_view type);

  // Changes what one node has (nothing: it is down); totals follow.
  void SetCapacity(NodeIndex node, const Resources& capacity);

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
  std::string ToString() const;  // parses back to an equal spec

 private:
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> gpu_masks_;
  std::vector<std::int32_t> cpus_;
  std::vector<std::string> types_;
  std::vector<Resources> type_total_;
  Resources total_;
};

}  // namespace allot
