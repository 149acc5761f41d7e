#include "elastic/state_route.h"

#include <algorithm>
#include <cstddef>

namespace allot {

StateRoute RouteOf(int rank, std::span<const int> ranks, std::span<const std::string> hosts) {
  StateRoute route;
  std::vector<std::size_t> heads;  // the first of each host, in order
  int before = -1;                 // the head that the last one got it from
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto head = std::find_if(heads.begin(), heads.end(), [&](std::size_t at) {
      return !hosts[i].empty() && hosts[at] == hosts[i];
    });
    const bool reads = head != heads.end();
    const int from = reads ? ranks[*head] : before;
    if (ranks[i] == rank) {
      route.from = from;
      route.reads = reads;
    } else if (from == rank) {
      if (reads) {
        route.readers.push_back(ranks[i]);
      } else {
        route.to = ranks[i];
      }
    }
    if (!reads) {
      heads.push_back(i);
      before = ranks[i];
    }
  }
  return route;
}

}  // namespace allot
