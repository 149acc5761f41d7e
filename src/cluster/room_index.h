#pragma once
// Nodes by GPU type and number of free GPUs, a bit each, so that the tightest or emptiest node is
// found without a walk over all of them. Kept by FreeMap, on demand; placement asks it through
// that.

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "cluster/cluster_spec.h"

namespace allot {

class RoomIndex {
 public:
  // O(nodes).
  void Build(const ClusterSpec& cluster, const std::vector<std::uint64_t>& free_masks);

  void Move(NodeIndex node, GpuTypeIndex type, GpuCount before, GpuCount after);

  // The lowest-numbered node with exactly `gpus` free ones that `accept` takes; -1 when none.
  // O(nodes / 64) in the worst case.
  template <typename Accept>
  NodeIndex First(GpuTypeIndex type, GpuCount gpus, const Accept& accept) const {
    const Level& level = LevelOf(type, gpus);
    if (level.count == 0) return -1;
    for (std::size_t word = level.first_word; word < words_; ++word) {
      for (std::uint64_t bits = level.nodes[word]; bits != 0; bits &= bits - 1) {
        const auto node =
            static_cast<NodeIndex>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
        if (accept(node)) return node;
      }
    }
    return -1;
  }

  // Whether as many nodes of the type as the span allows have `gpus` free ones together, at least
  // one on each. O(GPUs of a node).
  bool Holds(GpuTypeIndex type, GpuCount gpus, const Span& span) const;

  GpuCount most() const { return most_; }  // GPUs of the largest node

 private:
  struct Level {
    std::vector<std::uint64_t> nodes;
    std::int32_t count = 0;
    std::size_t first_word = 0;  // no bit before it
  };
  const Level& LevelOf(GpuTypeIndex type, GpuCount gpus) const {
    return levels_[static_cast<std::size_t>(type) * (static_cast<std::size_t>(most_) + 1) +
                   static_cast<std::size_t>(gpus)];
  }
  Level& LevelOf(GpuTypeIndex type, GpuCount gpus) {
    return const_cast<Level&>(std::as_const(*this).LevelOf(type, gpus));
  }

  std::size_t words_ = 0;
  GpuCount most_ = 0;
  std::vector<Level> levels_;
};

}  // namespace allot
