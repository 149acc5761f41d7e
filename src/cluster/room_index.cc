#include "cluster/room_index.h"

#include <algorithm>
#include <bit>

namespace allot {

void RoomIndex::Build(const ClusterSpec& cluster, const std::vector<std::uint64_t>& free_masks) {
  const std::size_t nodes = cluster.nodes().size();
  words_ = (nodes + 63) / 64;
  most_ = 0;
  for (const Node& node : cluster.nodes()) most_ = std::max(most_, node.capacity.gpus);
  levels_.resize(cluster.types().size() * (static_cast<std::size_t>(most_) + 1));
  for (Level& level : levels_) {
    level.nodes.assign(words_, 0);
    level.count = 0;
    level.first_word = words_;
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    Level& level = LevelOf(cluster.nodes()[n].type, std::popcount(free_masks[n]));
    level.nodes[n / 64] |= std::uint64_t{1} << (n % 64);
    level.first_word = std::min(level.first_word, n / 64);
    ++level.count;
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
