#include "live/screens/nodes_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/strings.h"
#include "live/screens/status_cells.h"
#include "metrics/table.h"

namespace allot {
namespace {

// "0.03 to 1", "312 to 1"
std::string OddsCell(const NodeStatus& node) {
  if (!node.suspicion) return "";
  return fmt::format("{:.{}f} to 1", node.suspicion->odds, node.suspicion->odds < 10 ? 2 : 0);
}

}  // namespace

std::string NodesText(const DaemonStatus& status) {
  using Align = TextTable::Align;
  TextTable table({{"node", Align::kLeft},
                   {"type", Align::kLeft},
                   {"GPUs"},
                   {"used"},
                   {"by others"},
                   {"state", Align::kLeft},
                   {"fails jobs"},
                   {"accused by", Align::kLeft}});
  std::string below;
  for (const NodeStatus& node : status.nodes) {
    const auto jobs =
        node.suspicion ? fmt::format("{}", fmt::join(node.suspicion->jobs, ", ")) : std::string();
    table.AddRow({node.name, node.gpu_type, std::to_string(node.gpus),
                  std::to_string(node.worker_gpus), std::to_string(node.foreign_gpus),
                  std::string(NodeStateCell(node.state)), OddsCell(node), jobs});
    if (node.why) below += Printable(fmt::format("{}: {}", node.name, *node.why)) + "\n";
  }
  return TroubleLines(status) + table.ToText() + below;
}

}  // namespace allot
