#pragma once
// Nodes that will be away, as far as it is announced: those that the cluster calls back
// (RuntimeNode::recall), and those in a maintenance window of the operator's rules. Jobs leave a
// node some time before it is called back, and policies see how many GPUs are guaranteed until
// when. Part of LiveCluster. Times are Unix times.

#include <set>
#include <span>
#include <vector>

#include "cluster/observation.h"
#include "live/runtimes/runtime.h"
#include "rules/maintenance_windows.h"

namespace allot {

class AnnouncedRecalls {
 public:
  static constexpr Seconds kLeave = 300;   // so long before a recall its jobs leave the node
  static constexpr Seconds kClosed = 600;  // and so long before that nothing starts there

  // `windows`: whose nodes are set. O(nodes + windows).
  void Find(const MaintenanceWindows& windows, std::span<const RuntimeNode> nodes);

  // Called back soon: jobs leave these nodes, or nothing starts there.
  std::set<NodeIndex> ToLeave(double now) const;
  std::set<NodeIndex> Near(double now) const;
  double NextNear(double now) const;  // when a recall is near next; kNever: none will be
  // Nodes where the cluster would not start the job, because its time limit is beyond their recall.
  std::vector<NodeIndex> TooSoonFor(const RuntimeJob& job, double now) const;

  // Sets `lent` and `guaranteed`: GPUs now, and without those of nodes that will be away; none
  // where none is announced. `here`: GPUs by node, of nodes that only an announced absence keeps
  // away. O(steps x nodes).
  void Show(double now, std::span<const GpuCount> here, Observation* observation) const;

 private:
  struct Recalled {
    NodeIndex node = 0;
    NodeRecall recall;
  };
  struct Absence {
    NodeIndex node = 0;
    double from = 0;
    double until = 0;
  };

  std::vector<Recalled> recalled_;
  std::vector<Absence> absences_;  // of recalls and windows
};

}  // namespace allot
