#include "cluster/domain_rooms.h"

#include <algorithm>
#include <bit>

#include "core/check.h"

namespace allot {

void DomainRooms::Build(const ClusterSpec& cluster, const std::vector<std::uint64_t>& free_masks) {
  ALLOT_CHECK(cluster.topology() != nullptr);
  topology_ = cluster.topology();
  const std::vector<Node>& nodes = cluster.nodes();
  types_.assign(cluster.types().size(), {});
  for (const Node& node : nodes) {
    GpuCount& most = types_[Index(node.type)].node_gpus;
    most = std::max(most, node.capacity.gpus);
  }
  for (OfType& type : types_) {
    for (int level = 1; level <= topology_->top(); ++level) {
      const auto domains = Index(topology_->domains(level));
      std::size_t most = 0;
      for (std::size_t d = 0; d < domains; ++d) {
        most = std::max(most, topology_->NodesOf(level, static_cast<Domain>(d)).size());
      }
      Level& made = type.levels.emplace_back();
      made.whole.assign(domains, 0);
      made.free.assign(domains, 0);
      made.words = (domains + 63) / 64;
      made.count.assign(most + 1, 0);
      made.bits.assign((most + 1) * made.words, 0);
    }
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    OfType& type = types_[Index(nodes[n].type)];
    const GpuCount free = std::popcount(free_masks[n]);
    for (int level = 1; level <= topology_->top(); ++level) {
      Level& of_level = type.levels[Index(level - 1)];
      const std::size_t d = Index(topology_->DomainOf(level, static_cast<NodeIndex>(n)));
      of_level.free[d] += free;
      if (free > 0 && free == type.node_gpus) ++of_level.whole[d];
    }
  }
  for (OfType& type : types_) {
    for (Level& level : type.levels) {
      for (std::size_t d = 0; d < level.whole.size(); ++d) {
        const std::size_t whole = Index(level.whole[d]);
        ++level.count[whole];
        level.bits[whole * level.words + d / 64] |= std::uint64_t{1} << (d % 64);
      }
    }
  }
}

void DomainRooms::Set(Level* level, Domain domain, std::int32_t whole) {
  const std::size_t d = Index(domain);
  const std::size_t word = d / 64;
  const std::uint64_t bit = std::uint64_t{1} << (d % 64);
  const std::size_t before = Index(level->whole[d]);
  --level->count[before];
  level->bits[before * level->words + word] &= ~bit;
  level->whole[d] = whole;
  ++level->count[Index(whole)];
  level->bits[Index(whole) * level->words + word] |= bit;
}

void DomainRooms::Move(NodeIndex node, GpuTypeIndex type, GpuCount before, GpuCount after) {
  if (before == after) return;
  OfType& of_type = types_[Index(type)];
  const int more = (after == of_type.node_gpus ? 1 : 0) - (before == of_type.node_gpus ? 1 : 0);
  for (int level = 1; level <= topology_->top(); ++level) {
    Level& of_level = of_type.levels[Index(level - 1)];
    const Domain domain = topology_->DomainOf(level, node);
    of_level.free[Index(domain)] += after - before;
    if (more != 0) Set(&of_level, domain, of_level.whole[Index(domain)] + more);
  }
}

DomainRooms::Domain DomainRooms::Tightest(GpuTypeIndex type, int level,
                                          std::int32_t whole_nodes) const {
  const Level& of_level = Of(type, level);
  for (std::size_t whole = Index(std::max(whole_nodes, 0)); whole < of_level.count.size();
       ++whole) {
    if (of_level.count[whole] == 0) continue;
    for (std::size_t word = 0; word < of_level.words; ++word) {
      const std::uint64_t bits = of_level.bits[whole * of_level.words + word];
      if (bits != 0) return static_cast<Domain>(word * 64 + Index(std::countr_zero(bits)));
    }
  }
  return -1;
}

}  // namespace allot
