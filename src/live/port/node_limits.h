#pragma once
// What jobs want of nodes and policies do not know: that only some may run them
// (RuntimeJob::only_on), or that they have as many GPUs on each (RuntimeJob::even); and that
// nothing begins on nodes with a maintenance window ahead, on GPUs that others give up there
// either. What a decision gives such a job otherwise is moved to as many GPUs of the same type: to
// free ones, or to those of another job that begins there by the same decision, which then gets the
// ones given. A job whose workers have one GPU each is spread over what is left there, as fewer
// GPUs where that is less. LiveCluster calls it before it applies an answer.

#include <set>
#include <string>
#include <vector>

#include "live/state/live_state.h"

namespace allot {

struct GivenPlace {
  const LiveJob* job = nullptr;
  std::vector<NodeShare> shares;    // in the machines' numbers
  std::int32_t configuration = -1;  // of the job's table
  bool placed = true;               // false: it has what it had, or nothing, because:
  std::string why{};                // for people
};

// Each place is as it was, moved, or not placed. `givable`: GPUs by node; what the places have of
// them is disjoint, before and after. `closed`: nodes on which nothing begins. O(places x nodes)
// where a job has to move, else O(places).
void KeepToTheirNodes(const LiveState& state, const HeldGpus& givable,
                      const std::set<NodeIndex>& closed, std::vector<GivenPlace>* places);

}  // namespace allot
