#pragma once
// Nodes that fail, are repaired, join or leave while jobs run: events of a scenario. A node that is
// down has no capacity; its jobs are stopped, lose what they did since their last checkpoint, and
// wait. Policies see the cluster as it is at the moment (Observation::cluster).

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/cluster_spec.h"
#include "core/types.h"
#include "rules/maintenance_windows.h"
#include "workload/workload.h"

namespace allot {

struct NodeEvent {
  Seconds time = 0;
  NodeIndex node = 0;
  bool up = false;       // whole capacity from now on; else none
  bool planned = false;  // of a maintenance window: jobs are stopped with a checkpoint, and the
                         // node is up only where nothing else keeps it down
  friend bool operator==(const NodeEvent&, const NodeEvent&) = default;
};

// Random failures: times between them, and repairs, are exponential, independent per node.
struct NodeFailures {
  Seconds mean_between = kNever;  // of one node; kNever: none
  Seconds mean_repair = 3600;
  Seconds checkpoint_every = 0;  // since the start of the present configuration; a failure loses
                                 // what was done since the last one
};

// "24h:1h" (a failure a day and node, repaired within the hour on average), with a third part the
// time between checkpoints: "7d:2h:30min". UsageError when malformed.
NodeFailures ParseNodeFailures(const std::string& text);

// Events until `horizon`, ascending by (time, node); the same for the same seed.
std::vector<NodeEvent> DrawNodeEvents(const NodeFailures& failures, std::size_t nodes,
                                      Seconds horizon, std::uint64_t seed);

// The maintenance windows of rules; times from the workload's origin. DataError naming the window
// that applies to no node: the names of nodes are numbers from 0.
MaintenanceWindows WindowsOf(const OperatorRules& rules, const Workload& workload,
                             std::size_t nodes);
// Begins and ends of these, ascending.
std::vector<NodeEvent> EventsOf(const MaintenanceWindows& windows);

// CSV with columns time_s,node,event (up, down), ascending times, each a change of its node. One
// whose first event is "up" joins then: it is down before. DataError with file and line.
std::vector<NodeEvent> ReadNodeEvents(const std::string& path);

}  // namespace allot
