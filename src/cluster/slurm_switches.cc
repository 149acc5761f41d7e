#include "cluster/slurm_switches.h"

#include <algorithm>
#include <set>
#include <utility>

#include "clients/slurm/value_text.h"
#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

std::string LevelName(std::size_t height) {
  constexpr const char* kNames[] = {"leaf", "spine", "core"};
  return height <= std::size(kNames) ? kNames[height - 1] : fmt::format("level{}", height);
}

// Levels whose domains are all one say nothing.
void DropWholeLevels(TopologyFile* file) {
  while (!file->levels.empty()) {
    std::set<std::string> domains;
    for (const TopologyNode& node : file->nodes) domains.insert(node.domains.back());
    if (domains.size() != 1 || domains.contains("")) return;
    file->levels.pop_back();
    for (TopologyNode& node : file->nodes) node.domains.pop_back();
  }
}

}  // namespace

std::string SlurmSwitches::Place(int line) const { return fmt::format("{}:{}", path_, line); }

std::vector<std::string> SlurmSwitches::Expand(std::string_view list, int line) const {
  if (list.empty()) return {};
  try {
    return ExpandHosts(list);
  } catch (const Error&) {
    throw DataError("topology: names must be like n1 or n[1-4,7], got '{}' ({})", list,
                    Place(line));
  }
}

void SlurmSwitches::AddSwitch(std::string_view name, std::string_view children,
                              std::string_view nodes, int line) {
  if (name.empty() || children.empty() == nodes.empty()) {
    throw DataError(
        "topology: a switch has a name and either switches or nodes below it, got name '{}', "
        "switches '{}' and nodes '{}' ({})",
        name, children, nodes, Place(line));
  }
  const auto [known, is_new] = switches_.emplace(
      std::string(name), Switch{Expand(children, line), Expand(nodes, line), line});
  if (!is_new) {
    throw DataError("topology: a switch is described once, '{}' is in {} and in {}", name,
                    Place(known->second.line), Place(line));
  }
  order_.emplace_back(name);
}

void SlurmSwitches::AddBlock(std::string_view name, std::string_view nodes, int line) {
  if (name.empty() || nodes.empty()) {
    throw DataError("topology: a block has a name and nodes, got name '{}' and nodes '{}' ({})",
                    name, nodes, Place(line));
  }
  blocks_.emplace_back(std::string(name), Switch{{}, Expand(nodes, line), line});
}

void SlurmSwitches::SetBlockSizes(std::vector<std::int64_t> sizes, int line) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 0 && (i == 0 || (sizes[i] > sizes[i - 1] && sizes[i] % sizes[0] == 0))) continue;
    throw DataError(
        "topology: block sizes are > 0, ascend, and are multiples of the first, got {} after {} "
        "({})",
        sizes[i], i == 0 ? 0 : sizes[i - 1], Place(line));
  }
  sizes_ = std::move(sizes);
  sizes_line_ = line;
}

int SlurmSwitches::HeightOf(const std::string& name, std::vector<std::string>* above,
                            std::map<std::string, int>* heights) const {
  if (const auto known = heights->find(name); known != heights->end()) return known->second;
  const auto found = switches_.find(name);
  if (found == switches_.end()) {
    throw DataError("topology: every switch must be described, '{}' below '{}' is not ({})", name,
                    above->back(), Place(switches_.at(above->back()).line));
  }
  if (std::find(above->begin(), above->end(), name) != above->end()) {
    throw DataError("topology: a switch must not lie below itself: {} -> {} ({})",
                    Join(*above, " -> "), name, Place(found->second.line));
  }
  int height = 1;
  above->push_back(name);
  for (const std::string& child : found->second.children) {
    height = std::max(height, HeightOf(child, above, heights) + 1);
  }
  above->pop_back();
  (*heights)[name] = height;
  return height;
}

TopologyFile SlurmSwitches::OfTree() const {
  std::map<std::string, int> heights;
  std::map<std::string, std::string> parent;
  int highest = 0;
  for (const std::string& name : order_) {
    std::vector<std::string> above;
    highest = std::max(highest, HeightOf(name, &above, &heights));
    const Switch& its = switches_.at(name);
    for (const std::string& child : its.children) {
      const auto [known, is_new] = parent.emplace(child, name);
      if (is_new) continue;
      throw DataError(
          "topology: a switch lies below one other, '{}' lies below '{}' ({}) and below '{}' ({})",
          child, known->second, Place(switches_.at(known->second).line), name, Place(its.line));
    }
  }
  TopologyFile file;
  for (int height = 1; height <= highest; ++height) {
    file.levels.push_back({.name = LevelName(static_cast<std::size_t>(height))});
  }
  for (const std::string& name : order_) {
    const Switch& its = switches_.at(name);
    TopologyNode node;
    node.line = its.line;
    node.domains.resize(static_cast<std::size_t>(highest));
    for (const std::string* at = &name; at != nullptr;) {
      node.domains[static_cast<std::size_t>(heights.at(*at)) - 1] = *at;
      const auto up = parent.find(*at);
      at = up == parent.end() ? nullptr : &up->second;
    }
    for (const std::string& host : its.nodes) {
      node.name = host;
      file.nodes.push_back(node);
    }
  }
  return file;
}

TopologyFile SlurmSwitches::OfBlocks() const {
  TopologyFile file;
  file.levels.push_back({.name = "block"});
  for (std::size_t i = 1; i < sizes_.size(); ++i) {
    file.levels.push_back({.name = fmt::format("block-{}", sizes_[i])});
  }
  std::int64_t number = 0;
  for (const auto& [name, block] : blocks_) {
    TopologyNode node;
    node.line = block.line;
    node.domains.push_back(name);
    for (std::size_t i = 1; i < sizes_.size(); ++i) {
      node.domains.push_back(fmt::format("{}", number / (sizes_[i] / sizes_[0])));
    }
    for (const std::string& host : block.nodes) {
      node.name = host;
      file.nodes.push_back(node);
    }
    ++number;
  }
  return file;
}

TopologyFile SlurmSwitches::Finish() const {
  if (switches_.empty() == blocks_.empty()) {
    throw DataError("topology: a file describes either switches or blocks, got {} and {} ({})",
                    switches_.size(), blocks_.size(), Place(1));
  }
  TopologyFile file = blocks_.empty() ? OfTree() : OfBlocks();
  DropWholeLevels(&file);
  if (file.levels.empty()) {
    throw DataError("topology: all {} nodes lie in one domain ({})", file.nodes.size(), Place(1));
  }
  return file;
}

}  // namespace allot
