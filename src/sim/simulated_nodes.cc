// The nodes of SimulatedCluster that come and go.

#include <algorithm>
#include <utility>

#include "core/index.h"
#include "sim/simulated_cluster.h"

namespace allot {
namespace {

std::int32_t NodesWithCapacity(const ClusterSpec& cluster) {
  return static_cast<std::int32_t>(
      std::count_if(cluster.nodes().begin(), cluster.nodes().end(),
                    [](const Node& node) { return !(node.capacity == Resources{}); }));
}

}  // namespace

void SimulatedCluster::AdvanceTo(Seconds time) {
  const std::vector<NodeEvent>& nodes = scenario_.node_events();
  for (; next_node_event_ < nodes.size() && nodes[next_node_event_].time <= time;
       ++next_node_event_) {
    const NodeEvent& event = nodes[next_node_event_];
    if (event.time > observation_.now) PassTo(event.time);
    Apply(event);
    last_event_ = event.time;
  }
  PassTo(time);
}

void SimulatedCluster::JoinLater() {
  std::vector<bool> seen(present_->nodes().size(), false);
  for (const NodeEvent& event : scenario_.options().node_events) {
    if (event.up && !seen[At(event.node)]) {
      present_->SetCapacity(event.node, {});
      away_[At(event.node)].down = true;
    }
    seen[At(event.node)] = true;
  }
  nodes_present_ = NodesWithCapacity(*present_);
}

void SimulatedCluster::Apply(const NodeEvent& event) {
  NodeAway& away = away_[At(event.node)];
  if (event.planned) {
    away.windows += event.up ? -1 : 1;
  } else {
    away.down = !event.up;
  }
  if (!event.up) StopJobsOn(event.node, !event.planned);
  const Resources& whole = scenario_.cluster().nodes()[At(event.node)].capacity;
  present_->SetCapacity(event.node, away.any() ? Resources{} : whole);
  nodes_present_ = NodesWithCapacity(*present_);
  holdings_.Reset(observation_, &*observation_.free);
}

// One that failed takes what its jobs did since their last checkpoint.
void SimulatedCluster::StopJobsOn(NodeIndex node, bool failed) {
  Observation& o = observation_;
  new_shares_.clear();
  new_share_begin_.assign(1, 0);
  std::size_t slot = 0;  // of the next row that runs
  std::size_t kept = 0;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t r = At(row);
    const auto shares = o.shares_of(row);
    const bool hit = std::any_of(shares.begin(), shares.end(),
                                 [node](const NodeShare& share) { return share.node == node; });
    if (o.running[r] >= 0) {
      const Run& run = runs_[slot++];
      if (hit) {
        if (failed) {
          o.done_work[r] = DoneAtCheckpoint(r, run);
        }
        ++records_[At(o.job[r])].failures;
        if (TrainingRun* const training = TrainingOf(o.job[r])) training->Stop();
        gpus_used_ -= run.gpus;
        o.events.Change(row);
        Stop(r);
      } else {
        running_rows_[kept] = row;
        runs_[kept++] = run;
      }
    }
    if (!hit) new_shares_.insert(new_shares_.end(), shares.begin(), shares.end());
    new_share_begin_.push_back(static_cast<std::int32_t>(new_shares_.size()));
  }
  running_rows_.resize(kept);
  runs_.resize(kept);
  if (!o.partner.empty()) PartFromPartners();
  FindFirstFinish();
  std::swap(o.shares, new_shares_);
  std::swap(o.share_begin, new_share_begin_);
  NotePoint({o.now, o.rows(), static_cast<std::int32_t>(kept), GpusUsed()});
}

}  // namespace allot
