#include "live/port/announced_recalls.h"

#include <algorithm>
#include <numeric>

#include "core/index.h"

namespace allot {

void AnnouncedRecalls::Find(const MaintenanceWindows& windows, std::span<const RuntimeNode> nodes) {
  recalled_.clear();
  absences_.clear();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (!nodes[n].recall) continue;
    const auto node = static_cast<NodeIndex>(n);
    recalled_.push_back({node, *nodes[n].recall});
    absences_.push_back({node, nodes[n].recall->from - kLeave, nodes[n].recall->until});
  }
  for (const MaintenanceWindows::Window& window : windows.windows()) {
    for (const NodeIndex node : window.nodes) absences_.push_back({node, window.from, window.to});
  }
}

std::set<NodeIndex> AnnouncedRecalls::ToLeave(double now) const {
  std::set<NodeIndex> nodes;
  for (const auto& [node, recall] : recalled_) {
    if (recall.from - kLeave <= now && now < recall.until) nodes.insert(node);
  }
  return nodes;
}

std::set<NodeIndex> AnnouncedRecalls::Near(double now) const {
  std::set<NodeIndex> nodes;
  for (const auto& [node, recall] : recalled_) {
    const double leave = recall.from - kLeave;
    if (leave - kClosed <= now && now < leave) nodes.insert(node);
  }
  return nodes;
}

double AnnouncedRecalls::NextNear(double now) const {
  double next = kNever;
  for (const auto& [node, recall] : recalled_) {
    const double near = recall.from - kLeave - kClosed;
    if (now < near) next = std::min(next, near);
  }
  return next;
}

std::vector<NodeIndex> AnnouncedRecalls::TooSoonFor(const RuntimeJob& job, double now) const {
  std::vector<NodeIndex> nodes;
  if (job.mode == ResizeMode::kHot) return nodes;  // its workers have limits of their own
  for (const auto& [node, recall] : recalled_) {
    if (recall.binds_limits && now + job.time_limit > recall.from) nodes.push_back(node);
  }
  return nodes;
}

void AnnouncedRecalls::Show(double now, std::span<const GpuCount> here,
                            Observation* observation) const {
  observation->lent.reset();
  observation->guaranteed.clear();
  const bool coming =
      std::ranges::any_of(absences_, [now](const Absence& absence) { return now < absence.until; });
  if (!coming) return;
  std::vector<bool> away(here.size());
  for (Seconds ahead = 0; ahead <= kGuaranteeShown; ahead += kGuaranteeStep) {
    away.assign(here.size(), false);
    for (const Absence& absence : absences_) {
      const bool then = absence.from <= now + ahead && now + ahead < absence.until;
      if (then) away[At(absence.node)] = true;
    }
    GpuCount left = 0;
    for (std::size_t n = 0; n < here.size(); ++n) left += away[n] ? 0 : here[n];
    observation->guaranteed.push_back(left);
  }
  observation->lent = observation->guaranteed.front();
}

}  // namespace allot
