#pragma once
// Collects the nodes that another program lists, one by one, into a cluster; what of them is left
// out is counted. Used by the *_cluster_format.cc files only.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "cluster/cluster_spec.h"
#include "workload/trace_reader.h"

namespace allot {

struct ListedNode {
  struct Gpus {
    std::string type;  // "" where none is named
    std::int64_t count = 0;
  };
  std::string name;        // "": nodes without names, of which none is listed twice
  std::vector<Gpus> gpus;  // of several types: the node becomes one node for each
  bool parts = false;      // has parts of GPUs (gpu_parts.h) that `gpus` does not hold
  std::int64_t cpus = 0;   // 0: not said
  std::int64_t memory_mb = 0;
  std::string away;  // why nothing can run there: "down"; "": it can
};

class NodeList {
 public:
  NodeList(std::string path, ReadReport* report) : path_(std::move(path)), report_(report) {}

  // DataError for what no node can have. GPUs of a type that is a part of one do not count.
  void Add(ListedNode node, int line);
  // Counts an entry that is no node.
  void Skip(std::string_view reason, int line);
  // DataError where no node has a GPU; `advice` says how to make a file that has.
  ClusterSpec Finish(std::string_view advice);

 private:
  void Drop(std::string_view reason, int line);
  std::string path_;
  ReadReport* report_;
  ClusterSpec spec_;
  std::unordered_set<std::string> seen_;
};

// A type's name as clusters write it: in lower case, what is no letter, digit, '-', '_' or '.' as
// '-'; "gpu" for none.
std::string ClusterTypeName(std::string_view type);

}  // namespace allot
