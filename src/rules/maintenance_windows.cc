#include "rules/maintenance_windows.h"

#include <algorithm>

namespace allot {

MaintenanceWindows::MaintenanceWindows(const std::vector<Maintenance>& rules,
                                       const TimeOf& time_of) {
  for (const Maintenance& rule : rules) {
    windows_.push_back({rule, time_of(rule, rule.from), time_of(rule, rule.to)});
  }
}

void MaintenanceWindows::SetNodes(std::span<const std::string> names) {
  for (Window& window : windows_) {
    window.nodes.clear();
    for (std::size_t n = 0; n < names.size(); ++n) {
      if (window.rule.AppliesTo(names[n])) window.nodes.push_back(static_cast<NodeIndex>(n));
    }
  }
}

std::set<NodeIndex> MaintenanceWindows::InForce(Seconds now) const {
  std::set<NodeIndex> nodes;
  for (const Window& window : windows_) {
    if (now < window.from || now >= window.to) continue;
    nodes.insert(window.nodes.begin(), window.nodes.end());
  }
  return nodes;
}

std::set<NodeIndex> MaintenanceWindows::Near(Seconds now) const {
  std::set<NodeIndex> nodes;
  for (const Window& window : windows_) {
    if (now < window.from - window.rule.lead || now >= window.from) continue;
    nodes.insert(window.nodes.begin(), window.nodes.end());
  }
  return nodes;
}

Seconds MaintenanceWindows::NextNear(Seconds now) const {
  Seconds next = kNever;
  for (const Window& window : windows_) {
    const Seconds near = window.from - window.rule.lead;
    if (window.rule.lead > 0 && now < near) next = std::min(next, near);
  }
  return next;
}

}  // namespace allot
