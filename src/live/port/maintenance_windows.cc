#include "live/port/maintenance_windows.h"

#include <algorithm>

#include "core/error.h"
#include "workload/calendar.h"

namespace allot {

MaintenanceWindows::MaintenanceWindows(const std::vector<Maintenance>& windows) {
  for (const Maintenance& said : windows) {
    const auto from = ParseCalendar(said.from);
    const auto to = ParseCalendar(said.to);
    if (!from || !to) {
      throw UsageError(
          "{} of a live cluster must be \"YYYY-MM-DD HH:MM:SS\" (UTC), got '{}' (and 'to' '{}')",
          said.place, said.from, said.to);
    }
    windows_.push_back({said, static_cast<double>(*from), static_cast<double>(*to)});
  }
}

bool MaintenanceWindows::Drains(const std::string& node, double unix_time) const {
  return std::any_of(windows_.begin(), windows_.end(), [&](const Window& window) {
    return unix_time >= window.from && unix_time < window.to && window.said.IsOf(node);
  });
}

bool MaintenanceWindows::IsNear(const std::string& node, double unix_time) const {
  return std::any_of(windows_.begin(), windows_.end(), [&](const Window& window) {
    const double begin = window.from - window.said.lead;
    return unix_time >= begin && unix_time < window.from && window.said.IsOf(node);
  });
}

std::set<NodeIndex> MaintenanceWindows::Near(const std::vector<RuntimeNode>& nodes,
                                             double unix_time) const {
  std::set<NodeIndex> near;
  for (std::size_t n = 0; n < nodes.size() && !none(); ++n) {
    if (IsNear(nodes[n].name, unix_time)) near.insert(static_cast<NodeIndex>(n));
  }
  return near;
}

}  // namespace allot
