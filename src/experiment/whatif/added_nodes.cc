#include "experiment/whatif/added_nodes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/strings.h"
#include "perf/accepted_types.h"

namespace allot {
namespace {

constexpr std::int64_t kMostAddedNodes = 100'000;

// Nodes of one type and as many GPUs.
struct KindOfNodes {
  std::int64_t nodes = 0;
  const Node* like = nullptr;  // the first of them
};

// The commonest kind of each type, by type; of a type without GPUs none.
std::vector<KindOfNodes> CommonestKinds(const ClusterSpec& cluster) {
  std::map<std::pair<GpuTypeIndex, GpuCount>, KindOfNodes> kinds;
  for (const Node& node : cluster.nodes()) {
    if (node.capacity.gpus == 0) continue;
    KindOfNodes& kind = kinds[{node.type, node.capacity.gpus}];
    if (kind.nodes++ == 0) kind.like = &node;
  }
  std::vector<KindOfNodes> commonest(cluster.types().size());
  for (const auto& [key, kind] : kinds) {
    KindOfNodes& of_type = commonest[static_cast<std::size_t>(key.first)];
    if (kind.nodes > of_type.nodes) of_type = kind;
  }
  return commonest;
}

}  // namespace

ClusterSpec LikeNodes(const ClusterSpec& cluster, const std::vector<TypeLoad>& loads,
                      std::int64_t nodes) {
  if (nodes < 1 || nodes > kMostAddedNodes) {
    throw UsageError(
        "--more-nodes must be a number from 1 to {} or parts of a cluster like 4x8:TYPE, got '{}'",
        kMostAddedNodes, nodes);
  }
  const std::vector<KindOfNodes> kinds = CommonestKinds(cluster);
  std::vector<std::int32_t> added(kinds.size(), 0);  // by type
  if (MostLoaded(loads) == nullptr) {
    const auto most = std::max_element(
        kinds.begin(), kinds.end(),
        [](const KindOfNodes& a, const KindOfNodes& b) { return a.nodes < b.nodes; });
    added[static_cast<std::size_t>(most - kinds.begin())] = static_cast<std::int32_t>(nodes);
  } else {
    for (std::int64_t n = 0; n < nodes; ++n) {
      const auto demand = [&](std::size_t t) {  // once the nodes so far are there
        if (kinds[t].like == nullptr) return -1.0;
        const double gpus = loads[t].gpus + double{1} * added[t] * kinds[t].like->capacity.gpus;
        return loads[t].demand * loads[t].gpus / gpus;
      };
      std::size_t most = 0;
      for (std::size_t t = 1; t < kinds.size(); ++t) {
        if (demand(t) > demand(most)) most = t;
      }
      ++added[most];
    }
  }
  ClusterSpec spec;
  for (std::size_t t = 0; t < kinds.size(); ++t) {
    if (added[t] > 0) spec.AddNodes(added[t], kinds[t].like->capacity, cluster.types()[t]);
  }
  return spec;
}

ClusterSpec AddedNodes(const ClusterSpec& cluster, const std::vector<TypeLoad>& loads,
                       const std::string& more_nodes) {
  constexpr std::int64_t kPart = 10;
  if (more_nodes.empty()) {
    const auto with_gpus = std::count_if(cluster.nodes().begin(), cluster.nodes().end(),
                                         [](const Node& node) { return node.capacity.gpus > 0; });
    const std::int64_t tenth = (with_gpus + kPart / 2) / kPart;
    return LikeNodes(cluster, loads, std::clamp<std::int64_t>(tenth, 1, kMostAddedNodes));
  }
  const auto count = ParseInteger(more_nodes);
  return count ? LikeNodes(cluster, loads, *count) : ClusterSpec::Parse(more_nodes);
}

std::string UnwantedTypes(const Workload& workload, const ClusterSpec& added) {
  AcceptedTypes accepted(added.type_specs());
  std::vector<bool> wanted(added.types().size(), false);
  for (const Job& job : workload.jobs) {
    const std::vector<bool>& types = accepted.Of(workload.gpu_types[job.gpu_types]);
    for (std::size_t t = 0; t < wanted.size(); ++t) wanted[t] = wanted[t] || types[t];
  }
  std::string notes;
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    if (wanted[t]) continue;
    notes += fmt::format("No job accepts GPUs of type '{}', which are added. ", added.types()[t]);
  }
  if (!notes.empty()) notes += "The jobs of the trace name the types that they ran on.";
  return notes;
}

std::optional<std::int64_t> FewestNodes(std::int64_t most,
                                        const std::function<bool(std::int64_t)>& reaches) {
  std::int64_t low = -1;  // does not reach
  std::int64_t high = 0;
  while (!reaches(high)) {
    if (high >= most) return std::nullopt;
    low = high;
    high = std::min(most, std::max<std::int64_t>(1, 2 * high));
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (reaches(middle) ? high : low) = middle;
  }
  return high;
}

WhatIfTarget SearchTarget(Seconds target, Seconds present, const ClusterSpec& cluster,
                          const std::vector<TypeLoad>& loads,
                          const std::function<Seconds(const ClusterSpec& added)>& wait_with) {
  constexpr std::int64_t kLeastTried = 100, kTimesCluster = 10;
  std::map<std::int64_t, Seconds> waits = {{0, present}};
  const auto wait_of = [&](std::int64_t nodes) {
    const auto [wait, is_new] = waits.emplace(nodes, 0);
    if (is_new) wait->second = wait_with(LikeNodes(cluster, loads, nodes));
    return wait->second;
  };
  WhatIfTarget answer{.wait_s = target};
  answer.most_tried =
      std::max(kLeastTried, kTimesCluster * static_cast<std::int64_t>(cluster.nodes().size()));
  answer.nodes =
      FewestNodes(answer.most_tried, [&](std::int64_t nodes) { return wait_of(nodes) <= target; });
  answer.reached_wait_s = wait_of(answer.nodes.value_or(answer.most_tried));
  if (answer.nodes.value_or(0) > 0) answer.one_less_wait_s = wait_of(*answer.nodes - 1);
  return answer;
}

}  // namespace allot
