#include "sim/node_events.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "table/csv.h"
#include "workload/calendar.h"

namespace allot {
namespace {

const std::vector<std::string> kNodeLosses = {"requeue", "shrink", "hot"};  // as the enumerators

}  // namespace

NodeLoss ParseNodeLoss(const std::string& text) {
  const auto found = std::find(kNodeLosses.begin(), kNodeLosses.end(), text);
  if (found == kNodeLosses.end()) {
    throw UsageError("the failure mode must be {}, got '{}'{}", Join(kNodeLosses, " or "), text,
                     DidYouMean(text, kNodeLosses));
  }
  return static_cast<NodeLoss>(found - kNodeLosses.begin());
}

std::string_view TextOf(NodeLoss loss) { return kNodeLosses[static_cast<std::size_t>(loss)]; }

std::vector<NodeEvent> DrawNodeEvents(const FaultLaw& law, std::size_t nodes, Seconds horizon,
                                      std::uint64_t seed) {
  std::vector<NodeEvent> events;
  const std::optional<Seconds> notice = law.notice();
  const NodeEventReason reason = notice ? NodeEventReason::kRecall : NodeEventReason::kFailure;
  for (std::size_t n = 0; n < nodes; ++n) {
    const auto node = static_cast<NodeIndex>(n);
    for (const Outage& outage : law.OutagesOf(n, horizon, seed)) {
      events.push_back({outage.down, node, false, reason, notice.value_or(0)});
      events.push_back({outage.up, node, true, reason});  // also past the horizon: all come back
    }
  }
  std::stable_sort(events.begin(), events.end(), [](const NodeEvent& a, const NodeEvent& b) {
    return a.time != b.time ? a.time < b.time : a.node < b.node;
  });
  return events;
}

MaintenanceWindows WindowsOf(const OperatorRules& rules, const Workload& workload,
                             std::size_t nodes) {
  MaintenanceWindows windows(rules.maintenance(), [&](const Maintenance&, const std::string& when) {
    return ParseWhen(workload, when);
  });
  std::vector<std::string> names;
  for (std::size_t n = 0; n < nodes; ++n) names.push_back(std::to_string(n));
  windows.SetNodes(names);
  for (const MaintenanceWindows::Window& window : windows.windows()) {
    if (!window.nodes.empty()) continue;
    throw DataError("{}: a window must be of a node of the cluster, got '{}' of nodes 0 to {}",
                    window.rule.place, Join(window.rule.nodes, ", "), nodes - 1);
  }
  return windows;
}

std::vector<NodeEvent> EventsOf(const MaintenanceWindows& windows) {
  std::vector<NodeEvent> events;
  for (const MaintenanceWindows::Window& window : windows.windows()) {
    for (const NodeIndex node : window.nodes) {
      events.push_back({window.from, node, false, NodeEventReason::kPlanned});
      events.push_back({window.to, node, true, NodeEventReason::kPlanned});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const NodeEvent& a, const NodeEvent& b) { return a.time < b.time; });
  return events;
}

std::vector<NodeEvent> ReadNodeEvents(const std::string& path) {
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path, {"time_s", "node", "event"});
  struct Last {
    bool up = false;
    int line = 0;
  };
  std::map<NodeIndex, Last> last_of;  // a node's latest event
  std::vector<NodeEvent> events;
  while (csv.Next()) {
    csv.CheckRow();
    NodeEvent event;
    event.time = csv.Number("time_s");
    event.node = static_cast<NodeIndex>(csv.Integer("node", 0, 10'000'000));
    const std::string_view kind = csv.Text("event");
    if (kind != "up" && kind != "down") {
      throw DataError("{}: 'event' must be up or down, got '{}'", csv.place(), kind);
    }
    event.up = kind == "up";
    if (!(event.time >= 0) || (!events.empty() && event.time < events.back().time)) {
      throw DataError("{}: times must be >= 0 and ascend, {} follows {}", csv.place(), event.time,
                      events.empty() ? 0.0 : events.back().time);
    }
    // A row that was lost or doubled would otherwise go unseen.
    if (const auto last = last_of.find(event.node);
        last != last_of.end() && last->second.up == event.up) {
      throw DataError(
          "{}: 'event' must change its node, got '{}' for node {}, which is {} since line {}",
          csv.place(), kind, event.node, kind, last->second.line);
    }
    last_of[event.node] = {event.up, csv.line()};
    events.push_back(event);
  }
  return events;
}

}  // namespace allot
