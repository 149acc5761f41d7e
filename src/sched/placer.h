#pragma once
// What placement stages share: running jobs that keep their size keep their GPUs, everything else
// is placed in the order of the grants by a rule that differs between stages.

#include <functional>
#include <vector>

#include "cluster/free_map.h"
#include "sched/stages.h"

namespace allot {

// Chooses nodes for `count` units of a demand, one call per unit kind: appends (node, units) pairs
// that the map can hold; returns false when it cannot place them all. It must not change the map.
struct UnitShare {
  NodeIndex node;
  std::int32_t units;
};
class NodeChooser {
 public:
  virtual ~NodeChooser() = default;
  virtual bool Choose(const ClusterSpec& cluster, const FreeMap& free, GpuTypeIndex type,
                      const Resources& unit_demand, std::int32_t count,
                      std::span<const NodeShare> held, std::vector<UnitShare>* chosen) = 0;
};

// A Placement from a chooser.
class ChooserPlacement : public Placement {
 public:
  explicit ChooserPlacement(std::unique_ptr<NodeChooser> chooser) : chooser_(std::move(chooser)) {}
  void Place(const Observation& observation, std::span<const Grant> grants,
             Allocation* allocation) override;

 private:
  bool PlaceUnits(const Observation& observation, const Grant& grant);

  std::unique_ptr<NodeChooser> chooser_;
  FreeMap free_;
  std::vector<char> kept_;
  std::vector<UnitShare> chosen_;
  std::vector<NodeShare> shares_;
};

}  // namespace allot
