#pragma once
// The seam for files that describe a cluster: one file per format in this folder registers a
// ClusterFormat. ClusterSpec::Parse reads such a file through it; docs/formats/cluster.md.

#include <functional>
#include <string>
#include <string_view>

#include "cluster/cluster_spec.h"
#include "core/registry.h"
#include "workload/trace_reader.h"

namespace allot {

struct ClusterFormat {
  std::string id;  // "sinfo"
  std::string
      summary;  // one line for `allot list cluster-formats`, with the command that makes one
  // 0 = certainly not this format .. 100 = certainly.
  std::function<int(std::string_view text)> detect;
  // Reads the whole text; `path` is for messages only ("file:line"). Throws DataError on malformed
  // input, naming rule, value, place and, where it is the file as a whole, the command that makes a
  // good one. What is left out (nodes that are down, nodes without GPUs) is counted in the report.
  std::function<ClusterSpec(std::string_view text, const std::string& path, ReadReport*)> read;
};

// Reads a file in the format that its content says. Errors as ClusterSpec::Parse.
ClusterSpec ReadCluster(const std::string& path, ReadReport* report);

// For people: what reading the cluster left out, "" for nothing or where `cluster` is no file.
std::string ClusterNote(const std::string& cluster);

}  // namespace allot
