// openb_node_list_*.csv of cluster-trace-gpu-v2023.

#include "cluster/cluster_format.h"
#include "cluster/node_list.h"
#include "table/csv.h"

namespace allot {
namespace {

const std::vector<std::string> kOpenbColumns = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};

ClusterSpec ReadOpenbNodes(std::string_view text, const std::string& path, ReadReport* report) {
  CsvReader row(text, path, kOpenbColumns);
  NodeList list(path, report);
  while (row.Next()) {
    row.CheckRow();
    ListedNode node;
    node.name = row.Text("sn");
    node.gpus = {{std::string(row.Text("model")), row.Integer("gpu", 0, kMaxGpusPerNode)}};
    node.cpus = row.Integer("cpu_milli", 0, 1'000'000'000) / 1000;
    node.memory_mb = row.Integer("memory_mib", 0, 1'000'000'000);
    list.Add(node, row.line());
  }
  return list.Finish("a list of nodes with GPUs is openb_node_list_gpu_node.csv");
}

ALLOT_REGISTER(ClusterFormat,
               (ClusterFormat{"openb", "openb_node_list_*.csv of cluster-trace-gpu-v2023",
                              [](std::string_view text) {
                                return HeaderMatch(text, kOpenbColumns) == 100 ? 100 : 0;
                              },
                              ReadOpenbNodes}));

}  // namespace
}  // namespace allot
