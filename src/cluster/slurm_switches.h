#pragma once
// The network as Slurm's files describe it: a tree of switches, or blocks of nodes. Used by the
// formats of topology.conf and topology.yaml only.
//
// Switches with nodes are the level 'leaf', those above them 'spine', 'core', 'level4' and on.
// Nodes of base blocks are the level 'block'; each larger size of BlockSizes is a level of so many
// consecutive blocks, as Slurm plans them. A level that holds all nodes in one domain is left out.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/topology_format.h"

namespace allot {

class SlurmSwitches {
 public:
  explicit SlurmSwitches(std::string path) : path_(std::move(path)) {}

  // Lists as Slurm writes them ("s[1-4],s7"); a switch has one of the two. DataError.
  void AddSwitch(std::string_view name, std::string_view children, std::string_view nodes,
                 int line);
  void AddBlock(std::string_view name, std::string_view nodes, int line);
  // Sizes of blocks, ascending, the first one the base blocks'.
  void SetBlockSizes(std::vector<std::int64_t> sizes, int line);

  // DataError where switches form a cycle, two switches have one child, or a child is unknown.
  TopologyFile Finish() const;

 private:
  struct Switch {
    std::vector<std::string> children;
    std::vector<std::string> nodes;
    int line = 0;
  };
  std::string Place(int line) const;
  std::vector<std::string> Expand(std::string_view list, int line) const;
  // Leaves are of height 1. `below`: the switches on the way down to this one.
  int HeightOf(const std::string& name, std::vector<std::string>* above,
               std::map<std::string, int>* heights) const;
  TopologyFile OfTree() const;
  TopologyFile OfBlocks() const;

  std::string path_;
  std::map<std::string, Switch> switches_;
  std::vector<std::string> order_;  // of switches
  std::vector<std::pair<std::string, Switch>> blocks_;
  std::vector<std::int64_t> sizes_;
  int sizes_line_ = 0;
};

}  // namespace allot
