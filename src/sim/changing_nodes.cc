#include "sim/changing_nodes.h"

#include <algorithm>
#include <bit>

#include "core/index.h"

namespace allot {

ChangingNodes::ChangingNodes(const ClusterSpec& cluster)
    : all_(cluster),
      nodes_present_(static_cast<std::int32_t>(cluster.nodes().size())),
      kept_(nodes_present_) {}

ChangingNodes::ChangingNodes(const Scenario& scenario) : ChangingNodes(scenario.cluster()) {
  autoscaler_ = MakeAutoscaler(scenario.options().autoscale);
  events_ = &scenario.node_events();
  lending_ = scenario.lending();
  const bool drains = scenario.start_plan() != nullptr;
  if (autoscaler_ == nullptr && lending_ == nullptr && events_->empty() && !drains) return;
  present_ = std::make_unique<ClusterSpec>(all_);
  away_.resize(all_.nodes().size());
  const std::int32_t all = kept_;
  const std::int32_t first = autoscaler_ != nullptr ? std::clamp(autoscaler_->First(all), 1, all)
                             : lending_ != nullptr  ? lending_->first()
                                                    : all;
  for (NodeIndex node = first; node < all; ++node) Remove(node);
  std::vector<bool> seen(away_.size(), false);
  for (const NodeEvent& event : scenario.options().node_events) {
    if (event.up && !seen[At(event.node)]) {
      away_[At(event.node)].down = true;
      Show(event.node);
    }
    seen[At(event.node)] = true;
  }
}

const NodeEvent* ChangingNodes::next_event() const {
  return events_ == nullptr || next_event_ == events_->size() ? nullptr : &(*events_)[next_event_];
}

Seconds ChangingNodes::NextChange() const {
  const NodeEvent* const event = next_event();
  const Seconds of_events = event == nullptr ? kNever : event->time;
  if (lending_ == nullptr || next_lent_ == lending_->changes().size()) return of_events;
  return std::min(of_events, lending_->changes()[next_lent_].time);
}

std::optional<std::int32_t> ChangingNodes::TakeLent() {
  if (lending_ == nullptr || next_lent_ == lending_->changes().size()) return std::nullopt;
  const Lending::Change& next = lending_->changes()[next_lent_];
  const NodeEvent* const event = next_event();
  if (event != nullptr && event->time <= next.time) return std::nullopt;
  ++next_lent_;
  return next.nodes;
}

void ChangingNodes::TakeEvent() {
  const NodeEvent& event = (*events_)[next_event_++];
  Away& away = away_[At(event.node)];
  if (event.reason == NodeEventReason::kPlanned) {
    away.windows += event.up ? -1 : 1;
  } else {
    away.down = !event.up;
  }
  Show(event.node);
}

void ChangingNodes::Show(NodeIndex node) {
  const Away& away = away_[At(node)];
  const auto has_capacity = [&] {
    return present_->nodes()[At(node)].capacity == Resources{} ? 0 : 1;
  };
  nodes_present_ -= has_capacity();
  const bool is_away = away.down || away.windows > 0 || away.removed || away.drained;
  present_->SetCapacity(node, is_away ? Resources{} : all_.nodes()[At(node)].capacity);
  nodes_present_ += has_capacity();
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
    if (away_[At(node)].removed) continue;
    if (least < 0 || allocated[At(node)] <= allocated[At(least)]) least = node;
  }
  return least;
}

void ChangingNodes::Remove(NodeIndex node) {
  away_[At(node)].removed = true;
  --kept_;
  Show(node);
}

void ChangingNodes::Drain(NodeIndex node, bool drained) {
  away_[At(node)].drained = drained;
  Show(node);
}

void ChangingNodes::GrowTo(std::int32_t nodes) {
  for (NodeIndex node = 0; kept_ < nodes; ++node) {
    if (!away_[At(node)].removed) continue;
    away_[At(node)].removed = false;
    ++kept_;
    Show(node);
  }
}

}  // namespace allot
