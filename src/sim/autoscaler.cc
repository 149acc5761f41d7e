#include "sim/autoscaler.h"

#include <algorithm>
#include <bit>

#include "core/index.h"
#include "sim/simulated_cluster.h"

namespace allot {

std::unique_ptr<Autoscaler> MakeAutoscaler(std::string_view spec) {
  if (spec.empty()) return nullptr;
  const std::size_t equals = spec.find('=');
  const bool named = equals == std::string_view::npos || spec.find(':') < equals;
  const NamedParams given =
      ParseNamedParams(named ? std::string(spec) : "utility:" + std::string(spec));
  const auto& info = Registry<AutoscalerInfo>::Global().Get("autoscaler", given.name);
  return info.make(Params(fmt::format("autoscaler '{}'", info.id), info.params, given.given));
}

// ---- the side of SimulatedCluster ----

void SimulatedCluster::BeginScaling() {
  autoscaler_ = MakeAutoscaler(scenario_.options().autoscale);
  const auto all = static_cast<std::int32_t>(scenario_.cluster().nodes().size());
  nodes_present_ = all;
  if (autoscaler_ == nullptr) return;
  present_ = std::make_unique<ClusterSpec>(scenario_.cluster());
  observation_.cluster = present_.get();
  nodes_present_ = std::clamp(autoscaler_->First(all), 1, all);
  for (NodeIndex node = nodes_present_; node < all; ++node) present_->SetCapacity(node, {});
}

void SimulatedCluster::Scale() {
  if (observation_.now != NextInterval(observation_.now)) return;
  const auto all = static_cast<std::int32_t>(scenario_.cluster().nodes().size());
  const std::int32_t wanted =
      std::clamp(autoscaler_->Nodes(observation_, nodes_present_, all), 1, all);
  if (wanted == nodes_present_) return;
  if (wanted < nodes_present_) {
    ShrinkTo(wanted);
  } else {
    for (NodeIndex node = 0; nodes_present_ < wanted; ++node) {
      if (present_->nodes()[At(node)].capacity.gpus > 0) continue;
      present_->SetCapacity(node, scenario_.cluster().nodes()[At(node)].capacity);
      ++nodes_present_;
    }
  }
  holdings_.Reset(observation_, &*observation_.free);
  NotePoint({observation_.now, observation_.rows(), static_cast<std::int32_t>(running_rows_.size()),
             GpusUsed()});
}

// Interval by interval while there is nothing to do.
void SimulatedCluster::PassEmpty(Seconds time) {
  while (observation_.now < time) {
    AdvanceTo(std::min(time, IntervalAfterNow()));
    if (observation_.now < time) Scale();
  }
}

// Nodes on which least is held go first, of equal ones the last.
void SimulatedCluster::ShrinkTo(std::int32_t nodes) {
  std::vector<int> held;
  while (nodes_present_ > nodes) {
    held.assign(present_->nodes().size(), 0);
    for (const NodeShare& share : observation_.shares)
      held[At(share.node)] += std::popcount(share.gpus);
    NodeIndex least = -1;
    for (NodeIndex node = 0; At(node) < held.size(); ++node) {
      if (present_->nodes()[At(node)].capacity.gpus == 0) continue;
      if (least < 0 || held[At(node)] <= held[At(least)]) least = node;
    }
    StopJobsOn(least, false);
    present_->SetCapacity(least, {});
    --nodes_present_;
  }
}

}  // namespace allot
