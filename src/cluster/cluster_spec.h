#pragma once
// The machines: nodes in order, each with a GPU type and a capacity. Immutable during a run.

#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "perf/configuration.h"

namespace allot {

struct Node {
  GpuTypeIndex type = 0;
  Resources capacity;
};

class ClusterSpec {
 public:
  // "16x4" (nodes x GPUs), "6x4:v100,3x8:a100" (types), or the path of a file with one such part a
  // line ('#' comments). UsageError when malformed, DataError when the cluster has no GPU.
  static ClusterSpec Parse(std::string_view text);

  void AddNodes(int count, const Resources& capacity, std::string_view type);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<std::string>& types() const { return types_; }  // "gpu" when unnamed
  const Resources& total() const { return total_; }
  const Resources& total_of(GpuTypeIndex type) const {
    return type_total_[static_cast<std::size_t>(type)];
  }
  std::vector<GpuCount> type_capacity() const;
  std::string ToString() const;  // parses back to an equal spec

 private:
  std::vector<Node> nodes_;
  std::vector<std::string> types_;
  std::vector<Resources> type_total_;
  Resources total_;
};

}  // namespace allot
