#include "sched/unit_placer.h"

#include <algorithm>
#include <bit>

#include "core/index.h"
#include "sched/increments.h"

namespace allot {
namespace {

Resources DemandOfUnit(const std::vector<UnitKind>& kinds, int kind) {
  if (kind != kBundle) return kinds[At(kind)].demand;
  Resources sum;
  for (const UnitKind& each : kinds) sum += each.demand;
  return sum;
}

}  // namespace

void UnitPlacer::Reset(const ClusterSpec& cluster, std::size_t jobs) {
  const std::size_t nodes = cluster.nodes().size();
  const std::size_t types = cluster.types().size();
  cluster_ = &cluster;
  levels_ = 1;
  for (const Node& node : cluster.nodes()) {
    levels_ = std::max(levels_, At(node.capacity.gpus + node.capacity.cpus) + 1);
  }
  words_ = (nodes + 63) / 64;
  used_.assign(nodes, Resources{});
  bits_.assign(types * levels_ * words_, 0);
  count_.assign(types * levels_, 0);
  lowest_.assign(types, 0);
  for (std::size_t n = 0; n < nodes; ++n) {
    const std::size_t level = LevelOf(cluster.nodes()[n].type, {});
    bits_[level * words_ + n / 64] |= std::uint64_t{1} << (n % 64);
    ++count_[level];
  }
  units_.assign(jobs, UnitCounts{});
  placed_.clear();
}

NodeIndex UnitPlacer::LeastLoaded(GpuTypeIndex type) {
  std::size_t& lowest = lowest_[static_cast<std::size_t>(type)];
  const std::size_t first = static_cast<std::size_t>(type) * levels_;
  while (count_[first + lowest] == 0) ++lowest;
  std::size_t word = (first + lowest) * words_;
  const std::size_t begin = word;
  while (bits_[word] == 0) ++word;
  return static_cast<NodeIndex>((word - begin) * 64 + At(std::countr_zero(bits_[word])));
}

bool UnitPlacer::PlaceOnLeastLoaded(std::int32_t position, const std::vector<UnitKind>& kinds,
                                    int kind, GpuTypeIndex type) {
  return PlaceOn(LeastLoaded(type), position, kinds, kind);
}

bool UnitPlacer::PlaceOn(NodeIndex node, std::int32_t position, const std::vector<UnitKind>& kinds,
                         int kind) {
  const Node& spec = cluster_->nodes()[At(node)];
  Resources& used = used_[At(node)];
  const Resources demand = DemandOfUnit(kinds, kind);
  if (!(used + demand).FitsIn(spec.capacity)) return false;
  // Units are only ever added, so that the lowest free GPU is the number in use.
  const std::uint64_t gpus = GpuMask(used.gpus + demand.gpus) & ~GpuMask(used.gpus);
  const std::uint64_t bit = std::uint64_t{1} << (At(node) % 64);
  const std::size_t word = At(node) / 64;
  const std::size_t from = LevelOf(spec.type, used);
  bits_[from * words_ + word] &= ~bit;
  --count_[from];
  used += demand;
  const std::size_t to = LevelOf(spec.type, used);
  bits_[to * words_ + word] |= bit;
  ++count_[to];
  UnitCounts& units = units_[At(position)];
  if (kind == kBundle) {
    for (std::size_t k = 0; k < kinds.size(); ++k) ++units[k];
  } else {
    ++units[At(kind)];
  }
  placed_.push_back({position, node, kind, gpus});
  return true;
}

void UnitPlacer::Grants(const Observation& o, std::span<const std::int32_t> order,
                        std::span<const GpuTypeIndex> types, std::vector<Grant>* grants) {
  // Counting sort by position, then one share a node.
  first_of_.assign(order.size() + 1, 0);
  for (const Placed& placed : placed_) ++first_of_[At(placed.position) + 1];
  for (std::size_t i = 0; i < order.size(); ++i) first_of_[i + 1] += first_of_[i];
  by_position_.resize(placed_.size());
  for (auto it = placed_.rbegin(); it != placed_.rend(); ++it) {
    by_position_[At(--first_of_[At(it->position) + 1])] = *it;
  }
  // After the backward pass first_of_[i + 1] is where position i begins.
  shares_.clear();
  shares_.reserve(placed_.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t begin = At(first_of_[i + 1]);
    std::size_t end = i + 1 < order.size() ? At(first_of_[i + 2]) : placed_.size();
    const ConfigurationTable& table = *o.table[At(order[i])];
    // GPU counts have gaps: what was placed last and makes no configuration is given back.
    std::int32_t configuration = -1;
    for (; end > begin; --end) {
      configuration = table.Find(units_[i], types[i]);
      if (configuration >= 0) break;
      const int kind = by_position_[end - 1].kind;
      for (std::size_t k = 0; k < table.kinds().size(); ++k) {
        if (kind == kBundle || At(kind) == k) --units_[i][k];
      }
    }
    if (begin == end) continue;
    std::sort(by_position_.begin() + static_cast<std::ptrdiff_t>(begin),
              by_position_.begin() + static_cast<std::ptrdiff_t>(end),
              [](const Placed& x, const Placed& y) { return x.node < y.node; });
    const std::size_t first_share = shares_.size();
    for (std::size_t p = begin; p < end; ++p) {
      const Placed& placed = by_position_[p];
      if (p == begin || placed.node != by_position_[p - 1].node) {
        shares_.push_back({placed.node, UnitCounts{}, 0});
      }
      NodeShare& share = shares_.back();
      share.gpus |= placed.gpus;
      for (std::size_t k = 0; k < table.kinds().size(); ++k) {
        if (placed.kind == kBundle || At(placed.kind) == k) ++share.units[k];
      }
    }
    grants->push_back({order[i], configuration,
                       std::span(shares_).subspan(first_share, shares_.size() - first_share)});
  }
}

}  // namespace allot
