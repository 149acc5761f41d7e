// Slurm's topology.yaml: a list of topologies, of which the default one is read, or without a
// default the first with switches or blocks. Of YAML only what Slurm's manual shows: block style, a
// key and its value on one line.
//
//   - topology: tree
//     cluster_default: true
//     tree:
//       switches:
//         - switch: top
//           children: leaf[1-4]
//         - switch: leaf1
//           nodes: n[1-16]

#include <optional>
#include <utility>

#include "cluster/slurm_switches.h"
#include "cluster/topology_format.h"
#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

// A switch or a block.
struct Item {
  std::string name{}, children{}, nodes{};
  bool is_block = false;
  int line = 0;
};

struct NamedTopology {
  std::string name;
  bool is_default = false;
  std::vector<Item> items{};
  std::vector<std::int64_t> sizes{};
  int sizes_line = 0;
};

std::string Unquoted(std::string_view text) {
  text = Trim(text);
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

class YamlReader {
 public:
  explicit YamlReader(std::string path) : path_(std::move(path)) {}

  void Take(std::string_view line, int number) {
    line = Trim(line.substr(0, line.find(" #")));
    if (line.empty() || line.starts_with('#') || line == "---") return;
    const std::string place = fmt::format("{}:{}", path_, number);
    const bool begins_item = line.starts_with("- ");
    if (begins_item) line = Trim(line.substr(2));
    if (const auto size = ParseInteger(line); size && begins_item && !topologies_.empty()) {
      topologies_.back().sizes.push_back(*size);
      topologies_.back().sizes_line = number;
      return;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      throw DataError("topology: a line has a key and a value, got '{}' ({})", line, place);
    }
    const std::string key(Trim(line.substr(0, colon)));
    const std::string value = Unquoted(line.substr(colon + 1));
    if (key == "topology") {
      topologies_.push_back({.name = value});
      return;
    }
    if (topologies_.empty()) {
      throw DataError("topology: the first key is 'topology', got '{}' ({})", key, place);
    }
    NamedTopology& topology = topologies_.back();
    if (key == "cluster_default") {
      topology.is_default = ToLower(value) == "true";
    } else if (key == "switch" || key == "block") {
      if (value.empty() && key == "block") return;  // the list of blocks follows
      topology.items.push_back({.name = value, .is_block = key == "block", .line = number});
    } else if ((key == "children" || key == "nodes") && !topology.items.empty()) {
      (key == "nodes" ? topology.items.back().nodes : topology.items.back().children) = value;
    } else if (key != "tree" && key != "switches" && key != "blocks" && key != "block_sizes" &&
               key != "flat") {
      throw DataError(
          "topology: a key is topology, cluster_default, tree, switches, switch, children, nodes, "
          "block, blocks, block_sizes or flat, got '{}' ({})",
          key, place);
    }
  }

  TopologyFile Finish() const {
    const NamedTopology* chosen = nullptr;
    for (const NamedTopology& topology : topologies_) {
      if (topology.is_default) chosen = &topology;
    }
    for (const NamedTopology& topology : topologies_) {
      if (chosen == nullptr && !topology.items.empty()) chosen = &topology;
    }
    if (chosen == nullptr || chosen->items.empty()) {
      throw DataError("topology: '{}' has no switches and no blocks ({}:1)",
                      chosen == nullptr ? "" : chosen->name, path_);
    }
    SlurmSwitches switches(path_);
    if (!chosen->sizes.empty()) switches.SetBlockSizes(chosen->sizes, chosen->sizes_line);
    for (const Item& item : chosen->items) {
      if (item.is_block) {
        switches.AddBlock(item.name, item.nodes, item.line);
      } else {
        switches.AddSwitch(item.name, item.children, item.nodes, item.line);
      }
    }
    return switches.Finish();
  }

 private:
  std::string path_;
  std::vector<NamedTopology> topologies_;
};

TopologyFile ReadSlurmYaml(std::string_view text, const std::string& path) {
  YamlReader reader(path);
  int number = 0;
  for (const std::string_view line : Split(text, '\n')) reader.Take(line, ++number);
  return reader.Finish();
}

int DetectSlurmYaml(std::string_view text) {
  for (const std::string_view line : Split(text, '\n')) {
    if (Trim(line).starts_with("- topology:")) return 90;
  }
  return 0;
}

ALLOT_REGISTER(TopologyFormat,
               (TopologyFormat{"slurm-yaml", "Slurm's topology.yaml, of its default topology",
                               DetectSlurmYaml, ReadSlurmYaml}));

}  // namespace
}  // namespace allot
