#include "live/port/rule_warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"

namespace allot {

std::vector<std::string> RuleWarnings(const OperatorRules& rules,
                                      std::span<const RuntimeNode> nodes,
                                      const ClusterSpec& cluster) {
  std::vector<std::string> warnings;
  try {
    rules.CheckGuarantees(cluster);
  } catch (const Error& error) {
    warnings.emplace_back(error.what());
  }
  for (const Maintenance& window : rules.maintenance()) {
    if (std::any_of(nodes.begin(), nodes.end(),
                    [&](const RuntimeNode& node) { return window.IsOf(node.name); })) {
      continue;
    }
    warnings.push_back(fmt::format("{}: the window must be of nodes of the cluster, got '{}'",
                                   window.place, fmt::join(window.nodes, "', '")));
  }
  return warnings;
}

}  // namespace allot
