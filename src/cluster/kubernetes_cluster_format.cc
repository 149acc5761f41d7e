// kubectl get nodes -o json.

#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "cluster/cluster_format.h"
#include "cluster/node_list.h"
#include "core/strings.h"
#include "workload/kubernetes_fields.h"
#include "workload/row_error.h"

namespace allot {
namespace {

using NodeJson = nlohmann::json;

constexpr std::string_view kNodesAdvice =
    "make one with: kubectl get nodes -o json > nodes.json; a node has GPUs where its device "
    "plugin runs";

const NodeJson& Inside(const NodeJson& object, std::initializer_list<const char*> keys) {
  static const NodeJson nothing;
  const NodeJson* at = &object;
  for (const char* key : keys) {
    if (!at->is_object() || !at->contains(key)) return nothing;
    at = &(*at)[key];
  }
  return *at;
}

bool IsReady(const NodeJson& object) {
  const NodeJson& conditions = Inside(object, {"status", "conditions"});
  if (!conditions.is_array()) return true;  // not said
  for (const NodeJson& condition : conditions) {
    if (Inside(condition, {"type"}) == "Ready") return Inside(condition, {"status"}) == "True";
  }
  return true;
}

// A node as one export shows it.
struct NodeState {
  ListedNode node;
  int line = 0;
  std::int64_t version = 0;
};

ClusterSpec ReadKubernetesNodes(std::string_view text, const std::string& path,
                                ReadReport* report) {
  NodeList list(path, report);
  std::vector<NodeState> nodes;
  std::unordered_map<std::string, std::size_t> place_of;  // of a name in `nodes`
  ForEachKubernetesObject(text, path, kNodesAdvice, [&](int line, const auto& parse) {
    const NodeJson object = parse();
    const std::string place = fmt::format("{}:{}", path, line);
    const NodeJson& kind = Inside(object, {"kind"});
    if (kind.is_string() && kind != "Node") return list.Skip("not a node", line);
    const NodeJson& name = Inside(object, {"metadata", "name"});
    if (!name.is_string()) throw RowError("a node must have metadata.name", name.dump(), place);
    ListedNode node;
    node.name = name.get<std::string>();
    const NodeJson& allocatable = Inside(object, {"status", "allocatable"});
    const NodeJson& resources =
        allocatable.is_object() ? allocatable : Inside(object, {"status", "capacity"});
    const auto gpus = GpusOfResources(resources);
    if (!gpus) throw RowError("GPUs must be a whole number >= 0", resources.dump(), place);
    node.gpus = {{GpuTypeOfLabels(Inside(object, {"metadata", "labels"})), *gpus}};
    node.parts = HasPartsOfGpus(resources);
    const auto quantity = [&](const char* key) {
      const NodeJson& value = Inside(resources, {key});
      if (value.is_null()) return 0.0;
      const auto number = ParseQuantity(value);
      if (!number || *number > 1e18) {
        throw RowError(fmt::format("{} must be a quantity, like 64 or 256Gi", key), value.dump(),
                       place);
      }
      return *number;
    };
    node.cpus = static_cast<std::int64_t>(quantity("cpu"));
    node.memory_mb = static_cast<std::int64_t>(quantity("memory") / (1024.0 * 1024.0));
    const NodeJson& cordoned = Inside(object, {"spec", "unschedulable"});
    if (!IsReady(object)) node.away = "not ready";
    if (cordoned.is_boolean() && cordoned.get<bool>()) node.away = "unschedulable (cordoned)";
    const NodeJson& version = Inside(object, {"metadata", "resourceVersion"});
    NodeState state{node, line, 0};
    if (version.is_string()) state.version = ParseInteger(version.get<std::string>()).value_or(0);
    const auto [at, is_new] = place_of.emplace(node.name, nodes.size());
    if (is_new) {
      nodes.push_back(std::move(state));
      return;
    }
    NodeState& known = nodes[at->second];
    if (state.version >= known.version) std::swap(state, known);
    list.Skip("an earlier state of a node (the newest counts)", state.line);
  });
  for (NodeState& state : nodes) list.Add(std::move(state.node), state.line);
  return list.Finish(kNodesAdvice);
}

int DetectKubernetesNodes(std::string_view text) {
  return LooksLikeKubernetes(text, "\"Node") || LooksLikeKubernetes(text, "\"List\"") ? 80 : 0;
}

ALLOT_REGISTER(ClusterFormat, (ClusterFormat{"kubernetes", "kubectl get nodes -o json",
                                             DetectKubernetesNodes, ReadKubernetesNodes}));

}  // namespace
}  // namespace allot
