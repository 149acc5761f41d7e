// The clusters of Tiresias and its descendants (Muri, ElasticFlow, Chronus).

#include "cluster/cluster_format.h"
#include "cluster/node_list.h"
#include "table/csv.h"

namespace allot {
namespace {

const std::vector<std::string> kTiresiasColumns = {
    "num_switch", "num_node_p_switch", "num_gpu_p_node", "num_cpu_p_node", "mem_p_node"};

ClusterSpec ReadTiresiasCluster(std::string_view text, const std::string& path,
                                ReadReport* report) {
  CsvReader row(text, path, kTiresiasColumns);
  NodeList list(path, report);
  while (row.Next()) {
    row.CheckRow();
    const long long nodes =
        row.Integer("num_switch", 1, 1000) * row.Integer("num_node_p_switch", 1, 1000);
    ListedNode node;
    node.gpus = {{"", row.Integer("num_gpu_p_node", 0, kMaxGpusPerNode)}};
    node.cpus = row.Integer("num_cpu_p_node", 0, 2000);
    node.memory_mb = 1024 * row.Integer("mem_p_node", 0, 1'000'000);
    for (long long n = 0; n < nodes; ++n) list.Add(node, row.line());
  }
  return list.Finish("num_gpu_p_node says how many GPUs a node has");
}

ALLOT_REGISTER(ClusterFormat,
               (ClusterFormat{"tiresias", "a cluster of Tiresias, Muri or ElasticFlow: nNgG.csv",
                              [](std::string_view text) {
                                return HeaderMatch(text, kTiresiasColumns) == 100 ? 100 : 0;
                              },
                              ReadTiresiasCluster}));

}  // namespace
}  // namespace allot
