#pragma once
// Which nodes of a live cluster are in a maintenance window of the operator's rules
// (cluster/operator_rules.h), or shortly before one. Times in the file are UTC. Asked by
// LiveCluster at every poll.

#include <set>
#include <string>
#include <vector>

#include "cluster/operator_rules.h"
#include "live/runtimes/runtime.h"

namespace allot {

class MaintenanceWindows {
 public:
  MaintenanceWindows() = default;  // none
  // UsageError naming the window whose times are not of the calendar.
  explicit MaintenanceWindows(const std::vector<Maintenance>& windows);

  bool none() const { return windows_.empty(); }
  // At a Unix time: the node is as drained; and nothing more begins there, as a window is near.
  bool Drains(const std::string& node, double unix_time) const;
  bool IsNear(const std::string& node, double unix_time) const;
  std::set<NodeIndex> Near(const std::vector<RuntimeNode>& nodes, double unix_time) const;

 private:
  struct Window {
    Maintenance said;
    double from = 0;  // Unix times
    double to = 0;
  };
  std::vector<Window> windows_;
};

}  // namespace allot
