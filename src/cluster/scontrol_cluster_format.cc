// The records of 'scontrol show node'.

#include <algorithm>

#include "cluster/cluster_format.h"
#include "cluster/slurm_nodes.h"

namespace allot {
namespace {

// "CPUTot=64" of a record, from its key.
std::string_view ValueOf(std::string_view record, std::string_view key) {
  for (std::size_t at = 0; (at = record.find(key, at)) != std::string_view::npos; ++at) {
    if (at > 0 && record[at - 1] != ' ' && record[at - 1] != '\n') continue;
    const std::string_view rest = record.substr(at + key.size());
    return rest.substr(0, rest.find_first_of(" \n\r"));
  }
  return {};
}

ClusterSpec ReadScontrol(std::string_view text, const std::string& path, ReadReport* report) {
  constexpr std::string_view kNodeName = "NodeName=";
  NodeList list(path, report);
  int line = 1;
  for (std::size_t at = text.find(kNodeName), counted = 0; at < text.size();) {
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                        text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    counted = at;
    const std::size_t next = std::min(text.find(kNodeName, at + 1), text.size());
    const std::string_view record = text.substr(at, next - at);
    const std::string place = fmt::format("{}:{}", path, line);
    ListedNode node;
    node.name = ValueOf(record, kNodeName);
    SetGres(ValueOf(record, "Gres="), GresFrom::kRecord, place, &node);
    const std::string_view total = ValueOf(record, "CPUTot=");
    node.cpus = NodeCount("CPUTot", total, place);
    node.memory_mb = NodeCount("RealMemory", ValueOf(record, "RealMemory="), place);
    node.away = AwayBecause(ValueOf(record, "State="));
    list.Add(node, line);
    at = next;
  }
  return list.Finish(kSinfoAdvice);
}

int DetectScontrol(std::string_view text) { return text.starts_with("NodeName=") ? 100 : 0; }

ALLOT_REGISTER(ClusterFormat, (ClusterFormat{"scontrol", "Slurm's nodes: scontrol show node",
                                             DetectScontrol, ReadScontrol}));

}  // namespace
}  // namespace allot
