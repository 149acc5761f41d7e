#include "sim/changing_nodes.h"

#include <algorithm>
#include <bit>

#include "core/index.h"

namespace allot {
namespace {

std::int32_t NodesWithCapacity(const ClusterSpec& cluster) {
  return static_cast<std::int32_t>(
      std::count_if(cluster.nodes().begin(), cluster.nodes().end(),
                    [](const Node& node) { return !(node.capacity == Resources{}); }));
}

}  // namespace

ChangingNodes::ChangingNodes(const ClusterSpec& cluster)
    : all_(cluster), nodes_present_(static_cast<std::int32_t>(cluster.nodes().size())) {}

ChangingNodes::ChangingNodes(const Scenario& scenario) : ChangingNodes(scenario.cluster()) {
  autoscaler_ = MakeAutoscaler(scenario.options().autoscale);
  events_ = &scenario.node_events();
  if (autoscaler_ == nullptr && events_->empty()) return;
  present_ = std::make_unique<ClusterSpec>(all_);
  if (autoscaler_ != nullptr) {
    const std::int32_t all = nodes_present_;
    const std::int32_t first = std::clamp(autoscaler_->First(all), 1, all);
    for (NodeIndex node = first; node < all; ++node) Remove(node);
    return;
  }
  away_.resize(all_.nodes().size());
  std::vector<bool> seen(away_.size(), false);
  for (const NodeEvent& event : scenario.options().node_events) {
    if (event.up && !seen[At(event.node)]) {
      present_->SetCapacity(event.node, {});
      away_[At(event.node)].down = true;
    }
    seen[At(event.node)] = true;
  }
  nodes_present_ = NodesWithCapacity(*present_);
}

const NodeEvent* ChangingNodes::next_event() const {
  return events_ == nullptr || next_event_ == events_->size() ? nullptr : &(*events_)[next_event_];
}

void ChangingNodes::TakeEvent() {
  const NodeEvent& event = (*events_)[next_event_++];
  Away& away = away_[At(event.node)];
  if (event.planned) {
    away.windows += event.up ? -1 : 1;
  } else {
    away.down = !event.up;
  }
  const bool is_away = away.down || away.windows > 0;
  present_->SetCapacity(event.node, is_away ? Resources{} : all_.nodes()[At(event.node)].capacity);
  nodes_present_ = NodesWithCapacity(*present_);
}

std::int32_t ChangingNodes::Wanted(const Observation& o) const {
  const auto all = static_cast<std::int32_t>(all_.nodes().size());
  return std::clamp(autoscaler_->Nodes(o, nodes_present_, all), 1, all);
}

NodeIndex ChangingNodes::LeastUsed(const Observation& o) const {
  std::vector<int> allocated(all_.nodes().size(), 0);
  for (const NodeShare& share : o.shares) allocated[At(share.node)] += std::popcount(share.gpus);
  NodeIndex least = -1;
  for (NodeIndex node = 0; At(node) < allocated.size(); ++node) {
    if (present_->nodes()[At(node)].capacity.gpus == 0) continue;
    if (least < 0 || allocated[At(node)] <= allocated[At(least)]) least = node;
  }
  return least;
}

void ChangingNodes::Remove(NodeIndex node) {
  present_->SetCapacity(node, {});
  --nodes_present_;
}

void ChangingNodes::GrowTo(std::int32_t nodes) {
  for (NodeIndex node = 0; nodes_present_ < nodes; ++node) {
    if (present_->nodes()[At(node)].capacity.gpus > 0) continue;
    present_->SetCapacity(node, all_.nodes()[At(node)].capacity);
    ++nodes_present_;
  }
}

}  // namespace allot
