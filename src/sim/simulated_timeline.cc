// The timeline of SimulatedCluster: what is running and waiting from one moment to the next.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/simulated_cluster.h"

namespace allot {

void SimulatedCluster::NotePoint(TimelinePoint point) {
  point.nodes = nodes_present_;
  if (!timeline_.empty() && timeline_.back().time >= point.time) timeline_.pop_back();
  timeline_.push_back(point);
}

void SimulatedCluster::NoteCompletions() {
  completions_.clear();
  double used = gpus_used_;  // without those that ended
  for (const std::size_t slot : ended_slots_) {
    completions_.push_back({runs_[slot].finish, ComesFree(slot)});
    used += runs_[slot].gpus;
  }
  std::sort(completions_.begin(), completions_.end(),
            [](const Completion& a, const Completion& b) { return a.time < b.time; });
  const auto gpus = static_cast<std::int32_t>(std::lround(used));
  TimelinePoint point = {0, observation_.rows(), static_cast<std::int32_t>(runs_.size()), gpus};
  for (const Completion& completion : completions_) {
    point.time = completion.time;
    --point.active;
    --point.running;
    point.gpus_used -= completion.gpus;
    NotePoint(point);
  }
}

}  // namespace allot
