#include "bindings/allocation_request.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

using Item = AllocationRequest::Item;

std::string RowText(const Observation& o, std::int32_t row) {
  return fmt::format("row {} (job {}, {})", row, o.job[At(row)], o.table[At(row)]->name());
}

}  // namespace

void AllocationRequest::Add(const Observation& o, Item item) {
  if (item.row < 0 || item.row >= o.rows()) {
    throw UsageError("a row must be from 0 to {}, got {}", o.rows() - 1, item.row);
  }
  const ConfigurationTable& table = *o.table[At(item.row)];
  if (item.configuration < 0 || item.configuration >= table.size()) {
    throw UsageError("{}: its configuration must be from 0 to {}, got {}", RowText(o, item.row),
                     table.size() - 1, item.configuration);
  }
  UnitCounts sum;
  for (const auto& [node, units] : item.nodes) {
    const auto nodes = static_cast<NodeIndex>(o.cluster->nodes().size());
    if (node < 0 || node >= nodes) {
      throw UsageError("{}: a node must be from 0 to {}, got {}", RowText(o, item.row), nodes - 1,
                       node);
    }
    sum += units;
  }
  const UnitCounts& wanted = table[item.configuration].units;
  if (!item.nodes.empty() && !(sum == wanted)) {
    throw UsageError(
        "{}: configuration {} has {} units (and {} of the second kind), its nodes {} "
        "(and {})",
        RowText(o, item.row), item.configuration, wanted.of(0), wanted.of(1), sum.of(0), sum.of(1));
  }
  items_.push_back(std::move(item));
}

std::int32_t ConfigurationOfGpus(const Observation& o, std::int32_t row, GpuCount gpus,
                                 const std::vector<Resources>& room) {
  const ConfigurationTable& table = *o.table[At(row)];
  const std::int32_t running = o.running[At(row)];
  const auto fits = [&](const Configuration& c) { return c.demand.FitsIn(room[At(c.gpu_type)]); };
  if (running >= 0 && table[running].demand.gpus == gpus && fits(table[running])) return running;
  std::set<GpuCount> known;
  std::int32_t best = -1;
  bool there_is = false;
  for (std::int32_t i = 0; i < table.size(); ++i) {
    const Configuration& c = table[i];
    if (c.partner != kNoPartner || c.rate <= 0 || !table.Allocatable(i)) continue;
    known.insert(c.demand.gpus);
    if (c.demand.gpus != gpus) continue;
    there_is = true;
    if (fits(c) && (best < 0 || c.rate > table[best].rate)) best = i;
  }
  if (!there_is) {
    std::string numbers;
    for (const GpuCount number : known) numbers += fmt::format(" {}", number);
    throw UsageError("{}: it can have one of these numbers of GPUs:{}, got {}", RowText(o, row),
                     numbers, gpus);
  }
  return best;
}

RequestPlacer::RequestPlacer() : placement_(MakeStage<Placement>("placement", "packed")) {}

void RequestPlacer::Place(const Observation& o, const AllocationRequest& request,
                          Allocation* allocation) {
  allocation->Clear();
  const std::vector<Item>& items = request.items();
  std::vector<char> seen(At(o.rows()), 0);
  std::size_t with_nodes = 0;
  for (const Item& item : items) {
    if (std::exchange(seen[At(item.row)], char{1}) != 0) {
      throw UsageError("{}: a job can be served once, got it twice", RowText(o, item.row));
    }
    with_nodes += item.nodes.empty() ? 0 : 1;
  }
  if (with_nodes > 0) {
    if (with_nodes < items.size()) {
      throw UsageError("an allocation names nodes for all of its jobs or for none, got {} of {}",
                       with_nodes, items.size());
    }
    return PlaceOnNodes(o, request, allocation);
  }
  room_.clear();
  for (std::size_t type = 0; type < o.cluster->types().size(); ++type) {
    room_.push_back(o.cluster->total_of(static_cast<GpuTypeIndex>(type)));
  }
  grants_.clear();
  for (const Item& item : items) {
    const Configuration& c = (*o.table[At(item.row)])[item.configuration];
    Resources& room = room_[At(c.gpu_type)];
    if (!c.demand.FitsIn(room)) continue;
    room -= c.demand;
    grants_.push_back({item.row, item.configuration});
  }
  placement_->Place(o, grants_, allocation);
}

// Its GPUs stay where they are; takes them.
bool RequestPlacer::KeepsGpus(const Observation& o, const Item& item) {
  const auto held = o.shares_of(item.row);
  if (o.running[At(item.row)] != item.configuration || held.size() != item.nodes.size()) {
    return false;
  }
  const ConfigurationTable& table = *o.table[At(item.row)];
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i].node != item.nodes[i].first || !(held[i].units == item.nodes[i].second)) {
      return false;
    }
  }
  for (const NodeShare& share : held) {
    if (!free_.TakeExactly(share.node, share.gpus, DemandOf(table.kinds(), share.units))) {
      throw UsageError("{}: node {} has not what it holds there any more", RowText(o, item.row),
                       share.node);
    }
  }
  return true;
}

void RequestPlacer::PlaceOnNodes(const Observation& o, const AllocationRequest& request,
                                 Allocation* allocation) {
  free_.Reset(*o.cluster);
  std::vector<Item> items = request.items();
  for (Item& item : items)
    std::sort(item.nodes.begin(), item.nodes.end(),
              [](auto& a, auto& b) { return a.first < b.first; });
  // Who stays comes first: nobody else may take these GPUs.
  std::vector<char> stays(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) stays[i] = KeepsGpus(o, items[i]);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const ConfigurationTable& table = *o.table[At(item.row)];
    if (stays[i] != 0) {
      allocation->Add(o.job[At(item.row)], item.configuration, o.shares_of(item.row));
      continue;
    }
    shares_.clear();
    for (const auto& [node, units] : item.nodes) {
      const Resources demand = DemandOf(table.kinds(), units);
      if (free_.Capacity(node, demand, 1) < 1) {
        throw UsageError("{}: {} GPUs and {} CPUs do not fit on node {}, which has {} and {} left",
                         RowText(o, item.row), demand.gpus, demand.cpus, node,
                         free_.free_gpus(node), free_.free_cpus(node));
      }
      shares_.push_back({node, units, free_.Take(node, demand)});
    }
    allocation->Add(o.job[At(item.row)], item.configuration, shares_);
  }
}

}  // namespace allot
