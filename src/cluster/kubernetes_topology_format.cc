// Labels of Kubernetes nodes: kubectl get nodes -o json, with the Topology object of Kueue or KAI
// where the cluster has one (kubectl get topologies,nodes -o json), which says what labels are
// levels. Without one, the levels are those labels of the list below that some node has: what
// NVIDIA Topograph (both versions), CoreWeave and clouds write. A level that holds all nodes in one
// domain is left out.

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cluster/topology_format.h"
#include "core/error.h"
#include "core/strings.h"
#include "workload/kubernetes_fields.h"

namespace allot {
namespace {

using LabelsJson = nlohmann::json;

constexpr std::string_view kAdvice =
    "make one with: kubectl get topologies,nodes -o json > topology.json";
constexpr std::string_view kHostname = "kubernetes.io/hostname";

struct KnownLevel {
  const char* name;
  std::vector<const char*> labels;  // the first that a node has counts
};

const std::vector<KnownLevel>& KnownLevels() {
  static const std::vector<KnownLevel> levels = {
      {"nvlink",
       {"accelerator.topograph.run/domain", "network.topology.nvidia.com/accelerator",
        "ds.coreweave.com/nvlink.domain"}},
      {"leaf", {"fabric.topograph.run/tier-0", "network.topology.nvidia.com/leaf"}},
      {"spine", {"fabric.topograph.run/tier-1", "network.topology.nvidia.com/spine"}},
      {"core", {"fabric.topograph.run/tier-2", "network.topology.nvidia.com/core"}},
      {"rack", {"cloud.provider.com/topology-rack"}},
      {"block", {"cloud.provider.com/topology-block"}},
      {"zone", {"topology.kubernetes.io/zone"}},
      {"region", {"topology.kubernetes.io/region"}},
  };
  return levels;
}

struct LabelledNode {
  std::string name;
  LabelsJson labels;
  int line = 0;
};

std::string LabelOf(const LabelledNode& node, const std::string& label) {
  const auto found = node.labels.find(label);
  return found == node.labels.end() || !found->is_string() ? "" : found->get<std::string>();
}

// "cloud.provider.com/topology-block": topology-block.
std::string NameOfLabel(const std::string& label) {
  const std::size_t slash = label.rfind('/');
  return slash == std::string::npos ? label : label.substr(slash + 1);
}

class LabelReader {
 public:
  explicit LabelReader(std::string path) : path_(std::move(path)) {}

  void Take(int line, const LabelsJson& object) {
    const std::string kind = object.value("kind", "");
    if (kind == "Topology") return TakeTopology(line, object);
    if (kind != "Node") return;
    const LabelsJson metadata = object.value("metadata", LabelsJson::object());
    LabelledNode node{metadata.value("name", ""), metadata.value("labels", LabelsJson::object()),
                      line};
    if (node.name.empty()) {
      throw DataError("topology: a node must have metadata.name, got '' ({}:{})", path_, line);
    }
    nodes_.push_back(std::move(node));
  }

  TopologyFile Finish() {
    if (nodes_.empty()) {
      throw DataError("topology: the file must have nodes, got 0; {} ({}:1)", kAdvice, path_);
    }
    TopologyFile file;
    for (const LabelledNode& node : nodes_) file.nodes.push_back({node.name, {}, node.line});
    if (levels_.empty()) {
      for (const KnownLevel& known : KnownLevels()) {
        AddLevel(known.name, {known.labels.begin(), known.labels.end()}, &file);
      }
    } else {
      for (const std::string& label : levels_) AddLevel(NameOfLabel(label), {label}, &file);
    }
    if (file.levels.empty()) {
      throw DataError(
          "topology: no label tells the places of the {} nodes apart ({}:1); known labels are {}",
          nodes_.size(), path_, Join(KnownLabels(), ", "));
    }
    return file;
  }

 private:
  void TakeTopology(int line, const LabelsJson& object) {
    if (!levels_.empty()) {
      throw DataError("topology: a file has one Topology, got another ({}:{})", path_, line);
    }
    const LabelsJson spec = object.value("spec", LabelsJson::object());
    for (const LabelsJson& level : spec.value("levels", LabelsJson::array())) {
      levels_.push_back(level.value("nodeLabel", ""));
    }
    std::reverse(levels_.begin(), levels_.end());  // outermost first
    std::erase(levels_, kHostname);
    std::set<std::string> seen;
    for (const std::string& label : levels_) {
      if (!label.empty() && seen.insert(label).second) continue;
      throw DataError(
          "topology: levels of a Topology have a nodeLabel each, got '{}' twice or none ({}:{})",
          label, path_, line);
    }
  }

  void AddLevel(const std::string& name, const std::vector<std::string>& labels,
                TopologyFile* file) const {
    std::vector<std::string> domains;
    for (const LabelledNode& node : nodes_) {
      std::string& domain = domains.emplace_back();
      for (const std::string& label : labels) {
        if (domain.empty()) domain = LabelOf(node, label);
      }
    }
    const std::set<std::string> different(domains.begin(), domains.end());
    if (different.size() < 2) return;
    file->levels.push_back({.name = name});
    for (std::size_t i = 0; i < domains.size(); ++i) {
      file->nodes[i].domains.push_back(std::move(domains[i]));
    }
  }

  static std::vector<std::string> KnownLabels() {
    std::vector<std::string> names;
    for (const KnownLevel& level : KnownLevels()) {
      names.insert(names.end(), level.labels.begin(), level.labels.end());
    }
    return names;
  }

  std::string path_;
  std::vector<LabelledNode> nodes_;
  std::vector<std::string> levels_;  // labels, from below; empty: those that are known
};

TopologyFile ReadLabels(std::string_view text, const std::string& path) {
  LabelReader reader(path);
  ForEachKubernetesObject(text, path, kAdvice, [&](int line, const auto& parse) {
    try {
      reader.Take(line, parse());
    } catch (const LabelsJson::exception& error) {
      throw DataError("topology: an object must be as the API has it, got {} ({}:{})", error.what(),
                      path, line);
    }
  });
  return reader.Finish();
}

int DetectLabels(std::string_view text) {
  return LooksLikeKubernetes(text, "\"Node\"") || LooksLikeKubernetes(text, "\"List\"") ? 80 : 0;
}

ALLOT_REGISTER(TopologyFormat,
               (TopologyFormat{"kubernetes",
                               "labels of nodes, with a Topology of Kueue or KAI: kubectl get "
                               "topologies,nodes -o json",
                               DetectLabels, ReadLabels}));

}  // namespace
}  // namespace allot
