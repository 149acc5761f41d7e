#include "stages/fill/unit_placer.h"

#include <algorithm>
#include <bit>

#include "core/index.h"
#include "stages/fill/increments.h"

namespace allot {
namespace {

Resources DemandOfUnit(const std::vector<UnitKind>& kinds, int kind) {
  if (kind != kBundle) return kinds[At(kind)].demand;
  Resources sum;
  for (const UnitKind& each : kinds) sum += each.demand;
  return sum;
}

// `more` of a kind, or of each kind.
void AddUnit(std::size_t kinds, int kind, int more, UnitCounts* units) {
  if (kind == kBundle) {
    *units += UnitCounts::OfEach(kinds, more);
  } else {
    units->Add(At(kind), more);
  }
}

}  // namespace

void UnitPlacer::Reset(const ClusterSpec& cluster, std::size_t jobs) {
  const std::size_t types = cluster.types().size();
  levels_ = 1;
  for (const Node& node : cluster.nodes()) {
    levels_ = std::max(levels_, At(node.capacity.gpus + node.capacity.cpus) + 1);
  }
  words_ = (cluster.nodes().size() + 63) / 64;
  bits_.assign(types * levels_ * words_, 0);
  count_.assign(types * levels_, 0);
  lowest_.resize(types);
  for (std::size_t t = 0; t < types; ++t) lowest_[t] = t * levels_;
  nodes_.clear();
  for (const Node& node : cluster.nodes()) {
    const std::size_t n = nodes_.size();
    const std::size_t level = lowest_[At(node.type)];
    nodes_.push_back({{}, node.capacity, level});
    bits_[level * words_ + n / 64] |= std::uint64_t{1} << (n % 64);
    ++count_[level];
  }
  units_.assign(jobs, UnitCounts{});
  placed_.clear();
}

NodeIndex UnitPlacer::LeastLoaded(GpuTypeIndex type) {
  std::size_t& lowest = lowest_[At(type)];
  while (count_[lowest] == 0) ++lowest;
  std::size_t word = lowest * words_;
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
  NodeState& state = nodes_[At(node)];
  const Resources demand = DemandOfUnit(kinds, kind);
  if (!(state.used + demand).FitsIn(state.capacity)) return false;
  // Units are only ever added, so that the lowest free GPU is the number in use.
  std::uint64_t gpus = 0;
  if (demand.gpus > 0) gpus = GpuMask(state.used.gpus + demand.gpus) & ~GpuMask(state.used.gpus);
  const std::uint64_t bit = std::uint64_t{1} << (At(node) % 64);
  std::uint64_t* const word = bits_.data() + At(node) / 64;
  word[state.level * words_] &= ~bit;
  --count_[state.level];
  state.used += demand;
  state.level += At(demand.gpus + demand.cpus);
  word[state.level * words_] |= bit;
  ++count_[state.level];
  UnitCounts& units = units_[At(position)];
  AddUnit(kinds.size(), kind, 1, &units);
  placed_.push_back({position, node, kind, gpus});
  return true;
}

void UnitPlacer::Settle(const Observation& o, std::span<const std::int32_t> order,
                        std::span<const GpuTypeIndex> types) {
  configuration_.resize(order.size());
  bool gaps = false;
  const auto find = [&](std::size_t position) {
    const ConfigurationTable& table = *o.table[At(order[position])];
    if (!table.has_spans()) return table.Find(units_[position], types[position]);
    return table.Find(units_[position], types[position], NodesOf(position));
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    configuration_[i] = units_[i].none() ? -1 : find(i);
    gaps = gaps || (configuration_[i] < 0 && !units_[i].none());
  }
  if (!gaps) return;
  // GPU counts have gaps: what was placed last and makes no configuration is given back.
  for (auto placed = placed_.rbegin(); placed != placed_.rend(); ++placed) {
    const std::size_t i = At(placed->position);
    if (configuration_[i] >= 0) continue;
    AddUnit(o.table[At(order[i])]->kinds().size(), placed->kind, -1, &units_[i]);
    placed->position = -1;
    configuration_[i] = find(i);
  }
  std::erase_if(placed_, [](const Placed& placed) { return placed.position < 0; });
}

std::size_t UnitPlacer::NodesOf(std::size_t position) const {
  std::vector<NodeIndex> nodes;
  for (const Placed& placed : placed_) {
    if (placed.position == static_cast<std::int32_t>(position)) nodes.push_back(placed.node);
  }
  std::sort(nodes.begin(), nodes.end());
  return static_cast<std::size_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

void UnitPlacer::SortPlaced() {
  // Two counting sorts, the second of which keeps the order of the first.
  const auto sort = [this](const std::vector<Placed>& from, std::size_t keys, auto key,
                           std::vector<Placed>* to) {
    end_.assign(keys + 1, 0);
    for (const Placed& placed : from) ++end_[At(key(placed)) + 1];
    for (std::size_t i = 0; i < keys; ++i) end_[i + 1] += end_[i];
    to->resize(from.size());
    for (const Placed& placed : from) (*to)[At(end_[At(key(placed))]++)] = placed;
  };
  sort(
      placed_, nodes_.size(), [](const Placed& placed) { return placed.node; }, &by_node_);
  sort(
      by_node_, units_.size(), [](const Placed& placed) { return placed.position; }, &placed_);
}

void UnitPlacer::Grants(const Observation& o, std::span<const std::int32_t> order,
                        std::span<const GpuTypeIndex> types, std::vector<Grant>* grants) {
  Settle(o, order, types);
  SortPlaced();
  shares_.clear();
  share_begin_.assign(1, 0);
  for (std::size_t p = 0; p < placed_.size();) {
    const std::int32_t position = placed_[p].position;
    const std::int32_t row = order[At(position)];
    const std::size_t kinds = o.table[At(row)]->kinds().size();
    for (; p < placed_.size() && placed_[p].position == position; ++p) {
      const Placed& placed = placed_[p];
      if (shares_.size() == share_begin_.back() || placed.node != shares_.back().node) {
        shares_.push_back({placed.node, UnitCounts{}, 0});
      }
      NodeShare& share = shares_.back();
      share.gpus |= placed.gpus;
      AddUnit(kinds, placed.kind, 1, &share.units);
    }
    grants->push_back({row, configuration_[At(position)]});
    share_begin_.push_back(shares_.size());
  }
}

}  // namespace allot
