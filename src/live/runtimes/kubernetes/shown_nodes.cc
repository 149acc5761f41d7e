#include "live/runtimes/kubernetes/shown_nodes.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace allot {
namespace {

// Drained: an administrator closed a node that works, or it is about to be taken away, so that jobs
// leave it with a checkpoint. One with another taint may be in trouble: that counts as down.
NodeState NodeStateOf(const KubeNode& node) {
  if (!node.closed) return NodeState::kUp;
  return node.ready && (node.cordoned || node.leaving) ? NodeState::kDrained : NodeState::kDown;
}

// Of a node that was made anew the labels may come later.
void ShowResources(const KubeNode& node, RuntimeNode* shown) {
  if (!node.gpu_type.empty()) shown->gpu_type = node.gpu_type;
  shown->capacity.gpus = std::min(node.gpus, kMaxGpusPerNode);
  shown->capacity.cpus = node.cpus;
  shown->recall.reset();
  if (node.recall_at) {
    shown->recall =
        NodeRecall{.from = *node.recall_at, .until = node.recall_until.value_or(kNever)};
  }
}

}  // namespace

void ShownNodes::Read(const ObjectStore<KubeNode>& nodes) {
  const auto before = std::exchange(by_name_, {});
  nodes.ForEach([&](const KubeNode& node) { by_name_[node.name] = node; });
  for (const auto& [name, node] : by_name_) {
    const auto known = before.find(name);
    const auto closed = known == before.end() ? std::nullopt : known->second.closed;
    if (node.closed && node.gpus > 0 && node.closed != closed) {
      spdlog::info("node {} takes no workers: {}", name, *node.closed);
    }
  }
  for (RuntimeNode& shown : shown_) {
    const KubeNode* const node = Find(shown.name);
    shown.state = node == nullptr ? NodeState::kDown : NodeStateOf(*node);
    if (node != nullptr) ShowResources(*node, &shown);
  }
  for (const auto& named : by_name_) {
    const KubeNode& node = named.second;
    if (node.gpus == 0 || !names_.insert(node.name).second) continue;
    RuntimeNode shown;
    shown.name = node.name;
    ShowResources(node, &shown);
    shown.state = NodeStateOf(node);
    shown_.push_back(std::move(shown));
  }
}

std::vector<std::string> ShownNodes::GpuTypes() const {
  std::vector<std::string> types;
  for (const RuntimeNode& node : shown_) {
    if (std::find(types.begin(), types.end(), node.gpu_type) == types.end()) {
      types.push_back(node.gpu_type);
    }
  }
  return types;
}

const KubeNode* ShownNodes::Find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

bool ShownNodes::HaveLost(const WorkerPod& pod) const {
  const KubeNode* const node = Find(pod.node);
  return node == nullptr || (pod.deleting && !node->ready);
}

}  // namespace allot
