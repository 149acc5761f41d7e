#pragma once
// Topologies as text: "leaf=16,pod=64", a file of some topology format, or both.
//
//   leaf=16:factor=8:uplink=8,pod=64:factor=9.6:uplink=6.4,all:factor=12.8,node:rails=4
//
// Levels are named from below. `=16`: so many consecutive nodes are a domain; the last one may have
// fewer. `factor`: the time of communication at the level over that in a node; default 8 for the
// first level, and 1.2 times the level below for each other. `uplink`: what the link of a domain
// towards the others carries, in nodes' bandwidths; default half of its nodes. `all` is the whole
// cluster, and `node:rails=4`: gangs on parts of nodes lose up to so much (Topology::RailFactor).
//
// With a file (docs/topology.md lists the formats), its levels have no sizes: "topology.conf",
// "topology.conf,leaf:factor=5:uplink=2.8".

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster_spec.h"
#include "cluster/topology.h"
#include "workload/trace_reader.h"

namespace allot {

// A level as a text has it.
struct LevelText {
  std::string name;
  std::optional<std::int32_t> nodes{};  // of a domain
  std::optional<double> factor{};
  std::optional<double> uplink{};
  std::optional<double> rails{};  // of 'node' only
};

// "leaf=16:factor=8:uplink=8". UsageError, or with a place ("file:line") DataError.
LevelText ParseLevel(std::string_view text, const std::string& place);

// Errors as ClusterSpec::Parse; a text with line ends is one that Topology::ToString has made. In
// `report`: nodes of the cluster without labels and nodes of the file that the cluster lacks.
std::shared_ptr<const Topology> ParseTopology(const std::string& text, const ClusterSpec& cluster,
                                              ReadReport* report);

// The topology of named nodes that come and go. Nodes that the file lacks are domains of their own,
// counted under `adjusted` in the report.
using TopologyOfNodes =
    std::function<std::shared_ptr<const Topology>(const ClusterSpec& named, ReadReport* report)>;

// Reads the file that the text names, once; errors of ParseTopology. UsageError for sizes.
TopologyOfNodes ReadTopologyOfNodes(const std::string& text);

// What a person should know of nodes that only the file or only the cluster has.
std::vector<std::string> TopologyNotes(const ReadReport& report);

// The file that the text names; none where it has sizes, or comes from ToString.
std::vector<std::string> FilesOfTopology(const std::string& text);

}  // namespace allot
