#pragma once
// The nodes of a simulated cluster as they come and go: by the scenario's events
// (sim/node_events.h), as services lend them (sim/lending.h) or as an autoscaler says
// (sim/autoscaler.h). Keeps which nodes have capacity; SimulatedCluster stops the jobs of a node
// before it takes the node away.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/autoscaler.h"
#include "sim/scenario.h"

namespace allot {

class ChangingNodes {
 public:
  // At the start of a run: nodes whose first event is "up", those that the autoscaler does not want
  // yet and those that are not lent are away.
  explicit ChangingNodes(const Scenario& scenario);
  // All nodes, always. The cluster outlives this.
  explicit ChangingNodes(const ClusterSpec& cluster);

  // As it is now; the reference stays valid, and what it shows changes.
  const ClusterSpec& cluster() const { return present_ ? *present_ : all_; }
  std::int32_t present() const { return nodes_present_; }  // nodes with capacity

  Seconds NextChange() const;           // of an event or of what is lent
  const NodeEvent* next_event() const;  // null: there is none
  void TakeEvent();                     // the next one
  // How many nodes are lent from the next change of that on, which is now; none: an event is next.
  std::optional<std::int32_t> TakeLent();

  bool autoscaled() const { return autoscaler_ != nullptr; }
  // How many nodes the autoscaler wants, 1 to all; what it sees is before the decision.
  std::int32_t Wanted(const Observation& observation) const;
  // Nodes that have not been removed, those that are down included.
  std::int32_t kept() const { return kept_; }
  // Of these one of those with the fewest allocated GPUs: the last of them.
  NodeIndex LeastUsed(const Observation& observation) const;
  void Remove(NodeIndex node);
  void GrowTo(std::int32_t nodes);           // the first nodes that were removed come back
  void Drain(NodeIndex node, bool drained);  // by a rule of the operator, until it says otherwise

 private:
  struct Away {  // why a node is
    bool down = false;
    std::int32_t windows = 0;  // of maintenance, that it is in
    bool removed = false;
    bool drained = false;
  };

  void Show(NodeIndex node);  // as it is now

  const ClusterSpec& all_;
  std::unique_ptr<ClusterSpec> present_;  // null: all nodes, always
  const std::vector<NodeEvent>* events_ = nullptr;
  std::vector<Away> away_;  // by node
  std::size_t next_event_ = 0;
  const Lending* lending_ = nullptr;  // null: none
  std::size_t next_lent_ = 1;
  std::int32_t nodes_present_;
  std::int32_t kept_;
  std::unique_ptr<Autoscaler> autoscaler_;  // null: none
};

}  // namespace allot
