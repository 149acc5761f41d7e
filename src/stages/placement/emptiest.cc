// The node with most free GPUs, all that a job can take of it, and on with the rest: how the
// simulators of Pollux (Qiao et al., OSDI'21, artifact) place jobs of fixed size. Jobs that keep
// their size stay where they are. The order in which nodes are taken is the order of the job's
// shares, which matters where iteration times are measured by placement (perf/profiled_times.h).

#include <algorithm>

#include "core/index.h"
#include "sched/stages.h"

namespace allot {
namespace {

class Emptiest : public Placement {
 public:
  explicit Emptiest(bool smallest_first) : smallest_first_(smallest_first) {}

  void Place(const Observation& o, std::span<const Grant> grants, Allocation* allocation) override {
    allocation->Clear();
    free_.Reset(*o.cluster);
    waiting_.clear();
    for (const Grant& grant : grants) {
      if (!Keep(o, grant, allocation)) waiting_.push_back(grant);
    }
    if (smallest_first_) {
      std::stable_sort(waiting_.begin(), waiting_.end(), [&o](const Grant& a, const Grant& b) {
        return ConfigurationOf(o, a).demand.gpus < ConfigurationOf(o, b).demand.gpus;
      });
    }
    for (const Grant& grant : waiting_) Find(o, grant, allocation);
  }

 private:
  static const Configuration& ConfigurationOf(const Observation& o, const Grant& grant) {
    return (*o.table[At(grant.row)])[grant.configuration];
  }

  bool Keep(const Observation& o, const Grant& grant, Allocation* allocation) {
    const std::size_t row = At(grant.row);
    const std::int32_t running = o.running[row];
    if (grant.anew || running < 0) return false;
    const ConfigurationTable& table = *o.table[row];
    const Configuration& wanted = table[grant.configuration];
    if (running != grant.configuration &&
        !(table.SameUnits(running, grant.configuration) &&
          table[running].gpu_type == wanted.gpu_type && wanted.partner == kNoPartner)) {
      return false;
    }
    const auto held = o.shares_of(grant.row);
    for (std::size_t s = 0; s < held.size(); ++s) {
      if (free_.TakeExactly(held[s].node, held[s].gpus, DemandOf(table.kinds(), held[s].units))) {
        continue;
      }
      while (s-- > 0) {
        free_.Release(held[s].node, held[s].gpus, DemandOf(table.kinds(), held[s].units));
      }
      return false;
    }
    allocation->Add(o.job[row], running, held);
    return true;
  }

  NodeIndex EmptiestNode(const ClusterSpec& cluster, GpuTypeIndex type,
                         const Resources& demand) const {
    NodeIndex best = -1;
    for (NodeIndex n = 0; At(n) < cluster.nodes().size(); ++n) {
      if (cluster.nodes()[At(n)].type != type || free_.Capacity(n, demand, 1) == 0) continue;
      if (best < 0 || free_.free_gpus(n) > free_.free_gpus(best)) best = n;
    }
    return best;
  }

  void Find(const Observation& o, const Grant& grant, Allocation* allocation) {
    const ConfigurationTable& table = *o.table[At(grant.row)];
    const Configuration& c = table[grant.configuration];
    shares_.clear();
    bool placed = true;
    for (std::size_t kind = 0; kind < table.kinds().size() && placed; ++kind) {
      const Resources& demand = table.kinds()[kind].demand;
      for (std::int32_t left = c.units.of(kind); left > 0 && placed;) {
        const NodeIndex node = EmptiestNode(*o.cluster, c.gpu_type, demand);
        placed = node >= 0;
        if (placed) left -= Take(node, kind, left, demand);
      }
    }
    const std::int32_t configuration =
        c.span.any() ? grant.configuration : table.Find(c.units, c.gpu_type, shares_.size());
    if (placed && configuration >= 0) {
      allocation->Add(o.job[At(grant.row)], configuration, shares_);
      return;
    }
    for (const NodeShare& share : shares_) {
      free_.Release(share.node, share.gpus, DemandOf(table.kinds(), share.units));
    }
  }

  std::int32_t Take(NodeIndex node, std::size_t kind, std::int32_t wanted,
                    const Resources& demand) {
    const std::int32_t units = free_.Capacity(node, demand, wanted);
    const std::uint64_t gpus = free_.Take(node, demand * units);
    const auto same = std::find_if(shares_.begin(), shares_.end(),
                                   [node](const NodeShare& s) { return s.node == node; });
    NodeShare& share = same == shares_.end() ? shares_.emplace_back() : *same;
    share.node = node;
    share.units.Add(kind, units);
    share.gpus |= gpus;
    return units;
  }

  bool smallest_first_;
  FreeMap free_;
  std::vector<Grant> waiting_;
  std::vector<NodeShare> shares_;
};

ALLOT_REGISTER(
    PlacementInfo, ([] {
      PlacementInfo info;
      info.id = "emptiest";
      info.summary =
          "who keeps its size stays, others take the node with most free GPUs, and so on";
      info.repeats = true;
      info.rates = RatesRead::kNone;
      info.params = {{"smallest-first", "false",
                      "jobs of few GPUs are placed first (false: in the order given)"}};
      info.make = [](const Params& params) {
        return std::make_unique<Emptiest>(params.Flag("smallest-first"));
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
