#pragma once
// Training state as its members share it when a group has been formed. Used by ElasticWorker.

#include <cstddef>
#include <span>
#include <vector>

#include "elastic/checkpoint_file.h"

namespace allot {

class Group;

// All of them throw GroupBroken, as Group does.
//
// From rank 0, in one piece: who receives only a part has received nothing.
void BroadcastBlocks(Group& group, std::span<const StateBlock> blocks);
// Rank 0, then those that lack the state; each member says whether it does.
std::vector<int> RanksOnTheWay(Group& group, bool lacks);
// Rank 0's state to the others of `ranks`: in place, so that theirs is part old and part new where
// the group breaks; with `whole` only when all of it is there.
void HandOnState(Group& group, std::span<const int> ranks, bool whole,
                 std::span<const StateBlock> state);

}  // namespace allot
