#include "cluster/room_index.h"

#include <algorithm>
#include <bit>

namespace allot {

void RoomIndex::Build(const ClusterSpec& cluster, const std::vector<std::uint64_t>& free_masks) {
  const std::vector<Node>& nodes = cluster.nodes();
  words_ = (nodes.size() + 63) / 64;
  most_ = 0;
  for (const std::uint64_t gpus : cluster.gpu_masks()) most_ = std::max(most_, std::popcount(gpus));
  levels_.resize(cluster.types().size() * (static_cast<std::size_t>(most_) + 1));
  for (Level& level : levels_) {
    level.nodes.assign(words_, 0);
    level.count = 0;
    level.first_word = words_;
  }
  // Neighbours often have as many free as each other: they are entered together, up to 64.
  for (std::size_t begin = 0, end = 0; begin < nodes.size(); begin = end) {
    const GpuCount gpus = std::popcount(free_masks[begin]);
    const std::size_t word = begin / 64;
    const std::size_t last = std::min(nodes.size(), 64 * (word + 1));
    end = begin + 1;
    while (end < last && nodes[end].type == nodes[begin].type &&
           std::popcount(free_masks[end]) == gpus) {
      ++end;
    }
    Level& level = LevelOf(nodes[begin].type, gpus);
    level.nodes[word] |= ~std::uint64_t{0} >> (64 - (end - begin)) << (begin % 64);
    level.first_word = std::min(level.first_word, word);
    level.count += static_cast<std::int32_t>(end - begin);
  }
}

bool RoomIndex::Holds(GpuTypeIndex type, GpuCount gpus, const Span& span) const {
  // From the emptiest nodes down.
  std::int64_t nodes = 0;
  std::int64_t held = 0;
  for (GpuCount room = most_; room > 0 && nodes < span.most; --room) {
    const std::int64_t more = std::min<std::int64_t>(LevelOf(type, room).count, span.most - nodes);
    nodes += more;
    held += more * room;
  }
  return held >= gpus && nodes >= span.least && gpus >= span.least;
}

void RoomIndex::Move(NodeIndex node, GpuTypeIndex type, GpuCount before, GpuCount after) {
  if (before == after) return;
  const auto word = static_cast<std::size_t>(node) / 64;
  const std::uint64_t bit = std::uint64_t{1} << (static_cast<std::size_t>(node) % 64);
  Level& from = LevelOf(type, before);
  from.nodes[word] &= ~bit;
  --from.count;
  while (from.first_word < words_ && from.nodes[from.first_word] == 0) ++from.first_word;
  Level& to = LevelOf(type, after);
  to.nodes[word] |= bit;
  to.first_word = std::min(to.first_word, word);
  ++to.count;
}

}  // namespace allot
