#pragma once
// What placement stages share: a rule that chooses nodes for the units of one job, and three ways
// to serve many jobs with it. A placement stage is one file with a NodeChooser.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/free_map.h"
#include "sched/stages.h"

namespace allot {

// Chooses nodes for `count` units of a demand, one call per unit kind: appends (node, units) pairs
// that the map can hold; returns false when it cannot place them all. It takes nothing from the
// map.
struct UnitShare {
  NodeIndex node;
  std::int32_t units;
  std::uint64_t gpus = 0;  // that the units take, free ones; 0: those of the lowest numbers
};
class NodeChooser {
 public:
  virtual ~NodeChooser() = default;
  // The calls of Choose that follow are for the job in this row.
  virtual void Begin(const Observation& /*observation*/, std::int32_t /*row*/) {}
  virtual bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
                      const Resources& unit_demand, std::int32_t count,
                      std::span<const NodeShare> held, std::vector<UnitShare>* chosen) = 0;
};

// Free GPUs and a chooser: puts whole jobs on nodes.
class JobPlacer {
 public:
  explicit JobPlacer(std::unique_ptr<NodeChooser> chooser) : chooser_(std::move(chooser)) {}

  // Begins anew: jobs that are granted what they run in keep their GPUs, all else is free. Says for
  // each grant whether it is kept. O(nodes + grants), and the rows where somebody stops or shrinks;
  // where the observation has no map of what is free, also the shares.
  void Keep(const Observation& observation, std::span<const Grant> grants, std::vector<char>* kept);
  // Begins anew, and all is free. O(nodes).
  void FreeAll(const Observation& observation);
  void Release(const Observation& observation, std::int32_t row);  // of one that is kept
  // Appends the jobs that were released since Keep and not placed again.
  void FindStopped(const Observation& observation, std::vector<JobIndex>* jobs) const;
  // Places all units of the grant or none; its shares are then in shares(), ascending by node.
  // Where the nodes that the chooser takes are too many or too few for the configuration's span,
  // the emptiest that suit it; where none do, as a configuration of equal units and type with
  // another span: where it runs if it does, else the fastest that has room.
  bool Place(const Observation& observation, const Grant& grant);
  const std::vector<NodeShare>& shares() const { return shares_; }
  std::int32_t configuration() const { return configuration_; }  // as which it was placed
  FreeMap& free() { return free_; }  // for stages that move what they kept

 private:
  static constexpr std::size_t kMostReserved = 4096;
  bool KeepRow(const Observation& observation, std::int32_t row);
  bool PlaceAs(const Observation& observation, std::int32_t row, std::int32_t configuration);
  bool PlaceWithOtherSpan(const Observation& observation, const Grant& grant);
  bool ChooseFor(const Observation& observation, std::int32_t row,
                 const Configuration& configuration, const Resources& unit_demand,
                 std::int32_t count);
  bool ChooseWithin(const ClusterSpec& cluster, const Configuration& configuration,
                    const Resources& unit_demand, std::int32_t count);
  void GiveBack(const std::vector<UnitKind>& kinds);

  std::unique_ptr<NodeChooser> chooser_;
  FreeMap free_;
  std::vector<UnitShare> chosen_;
  std::vector<NodeShare> shares_;
  std::int32_t configuration_ = -1;
  std::vector<std::int32_t> released_;  // rows
  std::vector<char> stays_;             // by row, of those that were released
};

// A placement stage from a chooser and its parameters, and the parameters "victims" and "anew".
// Without them (false): running jobs that keep their size stay, the others are placed in order, a
// job that does not fit is passed over. With either (true) jobs are served strictly in order, and
// none behind one that does not fit. With victims, running jobs are stopped for it before, from the
// last of the order up; grants should then also name the running jobs beyond the cluster's size
// (sizing requested:within-capacity=false). With anew, all jobs are placed as if none ran.
PlacementInfo ChooserPlacementInfo(std::string id, std::string summary,
                                   std::function<std::unique_ptr<NodeChooser>(const Params&)> make,
                                   std::vector<ParamSpec> params = {});

}  // namespace allot
