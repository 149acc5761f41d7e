#pragma once
// The maintenance windows of an operator (rules/operator_rules.h) on the nodes and by the clock of
// one cluster. Used by simulated and live clusters.

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rules/operator_rules.h"

namespace allot {

class MaintenanceWindows {
 public:
  struct Window {
    Maintenance rule;
    Seconds from = 0;  // by the cluster's clock
    Seconds to = 0;
    std::vector<NodeIndex> nodes{};  // that it applies to
  };
  // A time of the file by the cluster's clock. Throws what the constructor is to throw.
  using TimeOf = std::function<Seconds(const Maintenance& rule, const std::string& when)>;

  MaintenanceWindows() = default;  // none
  MaintenanceWindows(const std::vector<Maintenance>& rules, const TimeOf& time_of);

  // The names of all nodes, by index. Until then no window applies to a node.
  void SetNodes(std::span<const std::string> names);

  const std::vector<Window>& windows() const { return windows_; }
  // Nodes that are in maintenance, and nodes on which nothing starts, as a window is near.
  std::set<NodeIndex> InForce(Seconds now) const;
  std::set<NodeIndex> Near(Seconds now) const;
  // When a window is near next; kNever: never again.
  Seconds NextNear(Seconds now) const;

 private:
  std::vector<Window> windows_;
};

}  // namespace allot
