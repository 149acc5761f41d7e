#pragma once
// Exchange of training state when a group has been formed. Used by ElasticWorker. All functions
// throw GroupBroken, as Group does.

#include <cstddef>
#include <span>
#include <vector>

#include "elastic/checkpoint_file.h"

namespace allot {

class Group;

// Sends rank 0's blocks to all in one piece: a failed broadcast changes no receiver's blocks.
void BroadcastBlocks(Group& group, std::span<const StateBlock> blocks);
// Returns rank 0, then the members that lack the state; each member passes whether it does.
std::vector<int> RanksThatPassState(Group& group, bool lacks);
// Copies rank 0's state to the others of `ranks`. With `whole` a member's state changes only once
// everything is received; without, in place, so that a broken group leaves it half changed.
void PassState(Group& group, std::span<const int> ranks, bool whole,
               std::span<const StateBlock> state);

}  // namespace allot
