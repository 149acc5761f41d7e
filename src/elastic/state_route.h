#pragma once
// The route of the training state through a group. On each machine one member receives it over the
// network, from the receiving member of the machine before; the other members of the machine read
// it from that member's memory. Used by Group (torch/group.h).

#include <span>
#include <string>
#include <vector>

namespace allot {

struct StateRoute {
  int from = -1;             // source rank; -1: this member has the state
  bool reads = false;        // true: reads the source's memory; false: the source sends
  int to = -1;               // the rank that it forwards to while it receives; -1: none
  std::vector<int> readers;  // ranks that read its memory once it has everything

  bool operator==(const StateRoute&) const = default;
};

// Computes the route of `rank`. The first of `ranks` has the state, the others lack it; `hosts` are
// their machines in the same order. A member whose host is "" shares memory with nobody. All
// members must ask with the same lists.
StateRoute RouteOf(int rank, std::span<const int> ranks, std::span<const std::string> hosts);

}  // namespace allot
