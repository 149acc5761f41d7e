#pragma once
// The seam for files that describe the network of a cluster: one file per format in this folder
// registers a TopologyFormat, and all of them give the same value (docs/topology.md). Nodes are
// matched with the cluster's by name in cluster/topology_text.cc, which also refuses a node in two
// domains; a format only reads.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/topology_text.h"
#include "core/registry.h"

namespace allot {

struct TopologyNode {
  std::string name;
  std::vector<std::string> domains;  // by level; "": it has no label there
  int line = 0;
};

struct TopologyFile {
  std::vector<LevelText> levels;  // from below, without 'node' and 'all' unless they say something
  std::vector<TopologyNode> nodes;
};

struct TopologyFormat {
  std::string id;       // "slurm-conf"
  std::string summary;  // one line for `allot list topology-formats`
  // 0 = certainly not this format .. 100 = certainly.
  std::function<int(std::string_view text)> detect;
  // DataError on malformed input, naming rule, value and place ("file:line").
  std::function<TopologyFile(std::string_view text, const std::string& path)> read;
};

// In the format that the text says. DataError where no format takes it.
TopologyFile ReadTopologyFile(std::string_view text, const std::string& path);

}  // namespace allot
