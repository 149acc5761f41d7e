#include "live/state/live_state.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/error.h"
#include "core/index.h"

namespace allot {

NodeIndex LiveState::NodeOf(const std::string& name) const {
  const auto found = node_index_.find(name);
  return found == node_index_.end() ? -1 : found->second;
}

NodeState LiveState::StateOf(NodeIndex node) const {
  const RuntimeNode& known = nodes_[At(node)];
  if (known.drained || drained_nodes_.contains(known.name)) return NodeState::kDrained;
  if (maintained_nodes_.contains(known.name)) return NodeState::kMaintenance;
  return known.up ? NodeState::kUp : NodeState::kDown;
}

HeldGpus LiveState::Held() const {
  HeldGpus held(nodes_.size(), 0);
  for (const LiveJob* job : job_table_.active()) {
    for (const LiveWorker& worker : job->worker_group.workers())
      held[At(worker.node)] |= worker.gpus;
  }
  return held;
}

LiveJob& LiveState::JobOf(const JournalRecord& record) {
  const auto id = record.at("job").get<std::string>();
  LiveJob* job = job_table_.Find(id);
  if (job == nullptr) throw DataError("a journal names a job before it changes it, got '{}'", id);
  return *job;
}

std::vector<NodeShare> LiveState::SharesOf(const JournalRecord& record) const {
  std::vector<NodeShare> shares;
  for (const JournalRecord& share : record.at("shares")) {
    const NodeIndex node = NodeOf(share.at(0));
    if (node < 0) throw DataError("a journal names its nodes, got '{}'", share.at(0).dump());
    const auto gpus = share.at(1).get<std::uint64_t>();
    shares.push_back({node, UnitCounts(std::popcount(gpus)), gpus});
  }
  return shares;
}

// Older journals have no key: then it is what the shares make.
std::int32_t LiveState::GivenConfiguration(const JournalRecord& record, LiveJob& job,
                                           std::span<const NodeShare> shares) {
  GpuCount gpus = 0;
  for (const NodeShare& share : shares) gpus += std::popcount(share.gpus);
  const std::string key = record.value("configuration", std::string());
  const std::int32_t given = key.empty() ? -1 : job_table_.FindGiven(job, key, gpus);
  if (job.table == nullptr) {
    throw DataError("job '{}' is given GPUs, but is over, or no node has the types that it accepts",
                    job.asked->id);
  }
  if (record.contains("configuration")) {
    if (given < 0) {
      throw DataError("job '{}' is given '{}', which is none of its {} configurations",
                      job.asked->id, key, job.table->size());
    }
    return given;
  }
  if (shares.empty()) throw DataError("job '{}' is given 0 shares, at least 1", job.asked->id);
  const UnitCounts units(gpus);
  const GpuTypeIndex type = job_table_.nominal().nodes()[At(shares.front().node)].type;
  const std::int32_t configuration = job.table->Find(units, type, shares.size());
  if (configuration < 0) {
    throw DataError("job '{}' is given {} GPUs, which its limits {} to {} do not hold",
                    job.asked->id, gpus, job.asked->min_gpus, job.asked->max_gpus);
  }
  return configuration;
}

// Nodes never leave and keep their place; new ones come last.
void LiveState::SetNodes(const JournalRecord& record) {
  bool grown = false;
  for (const JournalRecord& one : record.at("nodes")) {
    RuntimeNode node{one.at("node"),
                     one.at("type"),
                     {one.at("gpus"), one.at("cpus")},
                     one.at("up"),
                     one.value("drained", false),
                     one.value("taken", 0)};
    const auto [known, added] =
        node_index_.emplace(node.name, static_cast<NodeIndex>(nodes_.size()));
    if (added) {
      nodes_.push_back(std::move(node));
      grown = true;
    } else {
      nodes_[At(known->second)].up = node.up;
      nodes_[At(known->second)].drained = node.drained;
      nodes_[At(known->second)].taken = node.taken;
    }
  }
  if (grown) {
    ClusterSpec nominal;
    for (const RuntimeNode& node : nodes_) nominal.AddNodes(1, node.capacity, node.gpu_type);
    job_table_.SetCluster(nominal);
    present_ = nominal;
  }
  Refresh();
}

void LiveState::Refresh() {
  node_up_.resize(nodes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const std::string& name = nodes_[n].name;
    node_up_[n] =
        nodes_[n].up && !drained_nodes_.contains(name) && !maintained_nodes_.contains(name);
    present_.SetCapacity(static_cast<NodeIndex>(n), node_up_[n] ? nodes_[n].capacity : Resources{});
  }
}

void LiveState::Apply(const JournalRecord& record) {
  const Seconds at = record.at("at");
  const auto kind = record.at("what").get<std::string>();
  last_ = std::max(last_, at);
  const auto handler = Handlers().find(kind);
  if (handler != Handlers().end()) handler->second(*this, record, at);
}

}  // namespace allot
