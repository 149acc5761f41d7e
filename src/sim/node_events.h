#pragma once
// Nodes that fail, are repaired, are called back, join or leave while jobs run: events of a
// scenario. A node that is down has no capacity; NodeLoss says what becomes of its jobs. Policies
// see the cluster as it is at the moment (Observation::cluster).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster_spec.h"
#include "core/types.h"
#include "rules/maintenance_windows.h"
#include "sim/fault_law.h"
#include "workload/workload.h"

namespace allot {

// What becomes of a job of which a node fails or is called back. "Else" is for jobs that progress
// on no such number of GPUs: they are stopped, lose what they did since their last checkpoint
// (sim/checkpoint_rule.h), and wait. With a notice that is long enough for a checkpoint a job loses
// nothing.
enum class NodeLoss {
  kRequeue,  // as "else"
  kShrink,   // goes on from its last checkpoint on the GPUs that are left, after a restart; else
  kHot,      // goes on from where it was on these, after a restart: nothing is lost; else
};

// "requeue", "shrink" or "hot". UsageError with did-you-mean.
NodeLoss ParseNodeLoss(const std::string& text);
std::string_view TextOf(NodeLoss loss);

enum class NodeEventReason {
  kFailure,
  kRecall,   // whoever lends the node takes it back: services, or a market of spare capacity
  kPlanned,  // of a maintenance window: jobs are stopped with a checkpoint, and the node is up only
             // where nothing else keeps it down
};

struct NodeEvent {
  Seconds time = 0;
  NodeIndex node = 0;
  bool up = false;  // whole capacity from now on; else none
  NodeEventReason reason = NodeEventReason::kFailure;
  Seconds notice = 0;  // the jobs on a node that goes down know of it so long before
  friend bool operator==(const NodeEvent&, const NodeEvent&) = default;
};

// Failures by a law until `horizon`, ascending by (time, node); the same for the same seed.
std::vector<NodeEvent> DrawNodeEvents(const FaultLaw& law, std::size_t nodes, Seconds horizon,
                                      std::uint64_t seed);

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
