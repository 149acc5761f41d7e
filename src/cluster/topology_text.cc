#include "cluster/topology_text.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "cluster/topology_format.h"
#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
#include "core/strings.h"
#include "table/text_encoding.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

constexpr double kFirstFactor = 8;    // NVLink 900 GB/s over a 400 Gb/s adapter, both ways
constexpr double kFactorAStep = 1.2;  // across pods (docs/topology.md)
constexpr double kUplinkPart = 0.5;   // of the nodes: links of equal speed, half of it usable
constexpr std::size_t kMostNamed = 5;
constexpr std::string_view kNode = "node";
constexpr std::string_view kAll = "all";

// Errors of the command line have no place.
template <typename... Args>
[[noreturn]] void Fail(const std::string& place, fmt::format_string<Args...> format,
                       Args&&... args) {
  const std::string message = fmt::format(format, std::forward<Args>(args)...);
  if (place.empty()) throw UsageError("topology: {}", message);
  throw DataError("topology: {} ({})", message, place);
}

double Above(double least, bool equal, std::string_view what, std::string_view text,
             const std::string& place) {
  const auto number = ParseNumber(text);
  if (!number || *number < least || (*number == least && !equal) || *number > kMostGpus) {
    Fail(place, "{} must be a number {} {}, got '{}'", what, equal ? ">=" : ">", least, text);
  }
  return *number;
}

std::string SomeOf(const std::vector<std::string>& names) {
  std::vector<std::string> some(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                   kMostNamed, names.size())));
  if (names.size() > some.size()) some.emplace_back("...");
  return Join(some, ", ");
}

// What the text says of the named levels, the cluster and the node.
struct Levels {
  std::vector<LevelText> named;
  LevelText all;
  LevelText node;
};

void Take(const LevelText& level, const std::string& place, Levels* levels) {
  if (level.name == kNode || level.name == kAll) {
    if (level.nodes) Fail(place, "'{}' has no size, got {}", level.name, *level.nodes);
    (level.name == kAll ? levels->all : levels->node) = level;
    return;
  }
  for (const LevelText& known : levels->named) {
    if (known.name != level.name) continue;
    Fail(place, "a level has one name, '{}' appears twice", level.name);
  }
  levels->named.push_back(level);
}

// What was given again wins.
void Override(const LevelText& given, LevelText* level) {
  if (given.factor) level->factor = given.factor;
  if (given.uplink) level->uplink = given.uplink;
  if (given.rails) level->rails = given.rails;
}

std::shared_ptr<const Topology> Make(const Levels& levels, const std::string& place,
                                     std::vector<std::vector<Topology::Domain>> domains,
                                     const ClusterSpec& cluster) {
  std::vector<TopologyLevel> made;
  double below = 1;
  std::string below_name(kNode);
  const auto factor_of = [&](const LevelText& text, const std::string& name) {
    const double factor = text.factor.value_or(made.empty() ? kFirstFactor : below * kFactorAStep);
    if (factor < below) {
      Fail(place, "factors must not fall: {} of '{}' after {} of '{}'", factor, name, below,
           below_name);
    }
    below = factor;
    below_name = name;
    return factor;
  };
  for (std::size_t i = 0; i < levels.named.size(); ++i) {
    std::map<Topology::Domain, int> sizes;
    int most = 0;
    for (const Topology::Domain domain : domains[i]) most = std::max(most, ++sizes[domain]);
    const LevelText& text = levels.named[i];
    const double factor = factor_of(text, text.name);
    made.push_back({text.name, factor, text.uplink.value_or(std::max(1.0, kUplinkPart * most))});
  }
  const double all_factor = factor_of(levels.all, std::string(kAll));
  return std::make_shared<const Topology>(std::move(made), std::move(domains), all_factor,
                                          levels.node.rails.value_or(1), cluster);
}

std::shared_ptr<const Topology> OfSizes(const Levels& levels, const ClusterSpec& cluster) {
  std::vector<std::vector<Topology::Domain>> domains;
  std::int32_t below = 1;
  for (const LevelText& level : levels.named) {
    if (!level.nodes) {
      Fail("",
           "'{0}' needs its number of nodes, as in '{0}=16', or a file before it that describes "
           "the levels",
           level.name);
    }
    if (*level.nodes % below != 0 || *level.nodes <= below) {
      Fail("", "a domain of a level holds whole domains of the level below: {} nodes of '{}', {}",
           *level.nodes, level.name, below);
    }
    below = *level.nodes;
    auto& of_level = domains.emplace_back(cluster.nodes().size());
    for (std::size_t node = 0; node < of_level.size(); ++node) {
      of_level[node] = static_cast<Topology::Domain>(node) / *level.nodes;
    }
  }
  return Make(levels, "", std::move(domains), cluster);
}

// What a node of the cluster is that the file lacks.
enum class Unknown : std::uint8_t { kError, kApart };

// Nodes of a file and of the cluster.
class Binding {
 public:
  Binding(const TopologyFile& file, const std::string& path, const ClusterSpec& cluster,
          Unknown unknown)
      : file_(file), path_(path), cluster_(cluster), unknown_(unknown) {
    apart_.domains.resize(file.levels.size());
  }

  // The file's node for each of the cluster's.
  std::vector<const TopologyNode*> Match(ReadReport* report) const {
    const std::unordered_map<std::string_view, const TopologyNode*> by_name = ByName();
    const std::size_t nodes = cluster_.nodes().size();
    std::vector<std::string> names = cluster_.node_names();
    if (names.size() != nodes) names.clear();  // some nodes have none
    if (names.empty() && HasNumbers()) {
      for (std::size_t node = 0; node < nodes; ++node) names.push_back(fmt::format("{}", node));
    }
    std::vector<const TopologyNode*> matched;
    if (names.empty()) {
      if (by_name.size() != nodes) {
        Fail(Place(1),
             "the nodes of the cluster have no names, so the file must name as many: it names {} "
             "({}), the cluster has {}",
             by_name.size(), SomeOf(NamesOfFile()), nodes);
      }
      std::set<std::string_view> seen;
      for (const TopologyNode& node : file_.nodes) {
        if (seen.insert(node.name).second) matched.push_back(&node);
      }
      return matched;
    }
    std::vector<std::string> missing;
    for (const std::string& name : names) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) missing.push_back(name);
      matched.push_back(found == by_name.end() ? &apart_ : found->second);
    }
    if (unknown_ == Unknown::kApart) {
      for (const std::string& name : missing) {
        report->Adjust("a node that the file lacks as a domain of its own",
                       fmt::format("{}: {}", path_, name));
      }
    } else if (!missing.empty()) {
      Fail(Place(1),
           "every node of the cluster must be in the file: {} of {} are not ({}); the file names "
           "{} ({})",
           missing.size(), names.size(), SomeOf(missing), by_name.size(), SomeOf(NamesOfFile()));
    }
    const std::set<std::string_view> known(names.begin(), names.end());
    for (const auto& [name, node] : by_name) {
      if (!known.contains(name)) report->Drop("a node that the cluster lacks", Place(node->line));
    }
    return matched;
  }

  std::vector<std::vector<Topology::Domain>> Domains(ReadReport* report) const {
    const std::vector<const TopologyNode*> matched = Match(report);
    std::vector<std::vector<Topology::Domain>> domains;
    for (std::size_t level = 0; level < file_.levels.size(); ++level) {
      std::unordered_map<std::string, Topology::Domain> number;
      auto& of_level = domains.emplace_back();
      for (std::size_t node = 0; node < matched.size(); ++node) {
        // A prefix that no name has keeps nodes without a label apart.
        const std::string& label = matched[node]->domains.at(level);
        if (label.empty() && matched[node] != &apart_) {
          report->Adjust(fmt::format("a node without a label of '{}' as a domain of its own",
                                     file_.levels[level].name),
                         Place(matched[node]->line));
        }
        const std::string key = label.empty() ? fmt::format("\n{}", node) : label;
        const auto fresh = static_cast<Topology::Domain>(number.size());
        of_level.push_back(number.emplace(key, fresh).first->second);
      }
      if (level > 0) RequireTree(matched, level);
    }
    return domains;
  }

 private:
  std::string Place(int line) const { return fmt::format("{}:{}", path_, line); }

  std::vector<std::string> NamesOfFile() const {
    std::vector<std::string> names;
    for (const TopologyNode& node : file_.nodes) names.push_back(node.name);
    return names;
  }

  bool HasNumbers() const {
    return std::all_of(file_.nodes.begin(), file_.nodes.end(), [](const TopologyNode& node) {
      return ParseInteger(node.name).has_value();
    });
  }

  std::unordered_map<std::string_view, const TopologyNode*> ByName() const {
    std::unordered_map<std::string_view, const TopologyNode*> by_name;
    for (const TopologyNode& node : file_.nodes) {
      const auto [known, is_new] = by_name.emplace(node.name, &node);
      const std::vector<std::string>& before = known->second->domains;
      if (is_new || before == node.domains) continue;
      for (std::size_t level = 0; level < before.size(); ++level) {
        if (before[level] == node.domains[level]) continue;
        Fail(Place(node.line),
             "a node is in one domain of each level: '{}' is in '{}' of '{}' ({}) and in '{}'",
             node.name, before[level], file_.levels[level].name, Place(known->second->line),
             node.domains[level]);
      }
    }
    return by_name;
  }

  // A domain lies in one domain of the level above.
  void RequireTree(const std::vector<const TopologyNode*>& matched, std::size_t level) const {
    std::unordered_map<std::string_view, const TopologyNode*> above;
    for (const TopologyNode* node : matched) {
      const std::string& below = node->domains[level - 1];
      if (below.empty()) continue;
      const TopologyNode* const first = above.emplace(below, node).first->second;
      if (first->domains[level] == node->domains[level]) continue;
      Fail(Place(node->line),
           "a domain lies in one domain of the level above: '{}' of '{}' is in '{}' of '{}' ({}) "
           "and in '{}'",
           below, file_.levels[level - 1].name, first->domains[level], file_.levels[level].name,
           Place(first->line), node->domains[level]);
    }
  }

  const TopologyFile& file_;
  const std::string& path_;
  const ClusterSpec& cluster_;
  Unknown unknown_;
  TopologyNode apart_;  // without a label
};

std::shared_ptr<const Topology> OfFile(const TopologyFile& file, const std::string& path,
                                       std::span<const std::string_view> overrides,
                                       const ClusterSpec& cluster, Unknown unknown,
                                       ReadReport* report) {
  Levels levels;
  for (const LevelText& level : file.levels) Take(level, fmt::format("{}:1", path), &levels);
  for (const std::string_view text : overrides) {
    const LevelText given = ParseLevel(text, "");
    if (given.nodes) {
      Fail("", "levels of a file have no size, got '{}' beside '{}'", text, path);
    }
    if (given.name == kAll) {
      Override(given, &levels.all);
    } else if (given.name == kNode) {
      Override(given, &levels.node);
    } else {
      std::vector<std::string> names;
      for (LevelText& level : levels.named) {
        names.push_back(level.name);
        if (level.name == given.name) Override(given, &level);
      }
      if (std::find(names.begin(), names.end(), given.name) == names.end()) {
        Fail("", "'{}' has the levels {}, not '{}'{}", path, Join(names, ", "), given.name,
             DidYouMean(given.name, names));
      }
    }
  }
  TopologyFile named = file;
  std::erase_if(named.levels,
                [](const LevelText& level) { return level.name == kAll || level.name == kNode; });
  return Make(levels, path, Binding(named, path, cluster, unknown).Domains(report), cluster);
}

TopologyFile ReadFile(const std::string& path) {
  return ReadTopologyFile(DecodeText(ReadTextFile(path), path).text, path);
}

}  // namespace

LevelText ParseLevel(std::string_view text, const std::string& place) {
  const std::vector<std::string_view> parts = Split(text, ':');
  LevelText level;
  const std::size_t equals = parts.front().find('=');
  level.name = Trim(parts.front().substr(0, equals));
  if (level.name.empty()) Fail(place, "a level has a name, got '{}'", text);
  if (equals != std::string_view::npos) {
    const std::string_view size = Trim(parts.front().substr(equals + 1));
    const auto nodes = ParseInteger(size);
    if (!nodes || *nodes < 1 || *nodes > kMostGpus) {
      Fail(place, "a domain of '{}' has a whole number of nodes >= 1, got '{}'", level.name, size);
    }
    level.nodes = static_cast<std::int32_t>(*nodes);
  }
  for (const std::string_view part : std::span(parts).subspan(1)) {
    const std::size_t sign = part.find('=');
    const std::string_view key = Trim(part.substr(0, sign));
    const std::string_view value =
        sign == std::string_view::npos ? std::string_view{} : Trim(part.substr(sign + 1));
    if (key == "factor" && level.name != kNode) {
      level.factor = Above(1, true, fmt::format("the factor of '{}'", level.name), value, place);
    } else if (key == "uplink" && level.name != kNode && level.name != kAll) {
      level.uplink = Above(0, false, fmt::format("the uplink of '{}'", level.name), value, place);
    } else if (key == "rails" && level.name == kNode) {
      level.rails = Above(1, true, "'rails'", value, place);
    } else {
      Fail(place,
           "a level has 'factor' and 'uplink' ('all' a factor, 'node' rails), got '{}' in '{}'",
           key, text);
    }
  }
  return level;
}

TopologyFile ReadTopologyFile(std::string_view text, const std::string& path) {
  const TopologyFormat* best = nullptr;
  int best_score = 0;
  std::vector<std::string> known;
  for (const TopologyFormat& format : Registry<TopologyFormat>::Global().entries()) {
    known.push_back(format.id);
    const int score = format.detect(text);
    if (score <= best_score) continue;
    best = &format;
    best_score = score;
  }
  if (best == nullptr) {
    throw DataError("topology: the file must be in one of the formats {} ({}:1)", Join(known, ", "),
                    path);
  }
  return best->read(text, path);
}

std::vector<std::string> TopologyNotes(const ReadReport& report) {
  std::vector<std::string> notes;
  for (const std::vector<DropCount>* counts : {&report.drops, &report.adjusted}) {
    for (const DropCount& count : *counts) {
      notes.push_back(fmt::format("{} x {} (first: {})", count.rows, count.reason, count.example));
    }
  }
  return notes;
}

std::vector<std::string> FilesOfTopology(const std::string& text) {
  const std::string first(Split(text, ',').front());
  std::error_code ignored;  // a text that cannot be a path is simply no file
  if (text.find('\n') == std::string::npos && std::filesystem::is_regular_file(first, ignored)) {
    return {first};
  }
  return {};
}

std::shared_ptr<const Topology> ParseTopology(const std::string& text, const ClusterSpec& cluster,
                                              ReadReport* report) {
  if (text.find('\n') != std::string::npos) {
    const std::string place = "topology";
    return OfFile(ReadTopologyFile(text, place), place, {}, cluster, Unknown::kError, report);
  }
  const std::vector<std::string_view> parts = Split(text, ',');
  const std::vector<std::string> files = FilesOfTopology(text);
  if (!files.empty()) {
    return OfFile(ReadFile(files.front()), files.front(), std::span(parts).subspan(1), cluster,
                  Unknown::kError, report);
  }
  if (parts.front().find_first_of("/.") != std::string_view::npos &&
      parts.front().find('=') == std::string_view::npos) {
    throw DataError(
        "no file '{}': a topology is the path of a file ('allot list topology-formats'), or levels "
        "like leaf=16,pod=64",
        parts.front());
  }
  Levels levels;
  for (const std::string_view part : parts) Take(ParseLevel(part, ""), "", &levels);
  if (levels.named.empty()) Fail("", "a topology has at least 1 level, got '{}'", text);
  return OfSizes(levels, cluster);
}

TopologyOfNodes ReadTopologyOfNodes(const std::string& text) {
  const std::vector<std::string> files = FilesOfTopology(text);
  if (files.empty()) {
    Fail("",
         "nodes of a running cluster come and go, so that their topology is a file that names them "
         "('allot list topology-formats'), got '{}'",
         text);
  }
  TopologyFile file = ReadFile(files.front());
  ClusterSpec all;  // shows what is wrong with the file itself
  for (const TopologyNode& node : file.nodes) {
    all.AddNodes(1, {1}, "gpu");
    all.NameLastNode(node.name);
  }
  const auto bind = [text, path = files.front(), file = std::move(file)](const ClusterSpec& cluster,
                                                                         ReadReport* report) {
    const std::vector<std::string_view> parts = Split(text, ',');
    return OfFile(file, path, std::span(parts).subspan(1), cluster, Unknown::kApart, report);
  };
  ReadReport unread;
  bind(all, &unread);
  return bind;
}

}  // namespace allot
