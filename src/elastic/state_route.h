#pragma once
// By which way the training state comes to a member of a group, and goes on from it. On each
// machine one member gets it over the network, from the one of the machine before; the others of
// the machine read it from that one's memory. Used by Group (torch/group.h).

#include <span>
#include <string>
#include <vector>

namespace allot {

struct StateRoute {
  int from = -1;             // -1: it has the state
  bool reads = false;        // from `from`'s memory; else that one sends
  int to = -1;               // whom it sends to while it receives; -1: nobody
  std::vector<int> readers;  // of its memory, once it has all

  bool operator==(const StateRoute&) const = default;
};

// Of `rank`. `ranks`: those on the way, of which the first has the state and the others lack it;
// `hosts`: theirs, in the same order. Whose host is "" shares memory with nobody. All members must
// ask with the same lists.
StateRoute RouteOf(int rank, std::span<const int> ranks, std::span<const std::string> hosts);

}  // namespace allot
