// kubectl get nodes -o json.

#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "clients/kubernetes/node.h"
#include "cluster/cluster_format.h"
#include "cluster/node_list.h"
#include "core/strings.h"
#include "table/row_error.h"
#include "workload/kubernetes_fields.h"

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

// A node as one export shows it.
struct NodeState {
  ListedNode node;
  int line = 0;
  std::int64_t version = 0;
};

KubeNode ReadNode(const NodeJson& object, const std::string& place) {
  try {
    KubeNode node = ReadKubeNode(object, NodeReading());
    if (node.fault) throw RowError(node.fault->rule, node.fault->got, place);
    return node;
  } catch (const NodeJson::exception& error) {
    throw RowError("a node must be as the API has it", error.what(), place);
  }
}

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
    const KubeNode read = ReadNode(object, place);
    ListedNode node;
    node.name = read.name;
    node.gpus = {{read.gpu_type, read.gpus}};
    node.parts = read.parts;
    node.cpus = read.cpus;
    node.memory_mb = read.memory_mib;
    node.away = read.closed.value_or("");
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
