#include "elastic/torch/state_sharing.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "elastic/torch/group.h"

namespace allot {
namespace {

void Unpack(std::span<const std::uint8_t> all, std::span<const StateBlock> blocks) {
  const std::uint8_t* at = all.data();
  for (const StateBlock& block : blocks) {
    std::memcpy(block.data, at, block.bytes);
    at += block.bytes;
  }
}

}  // namespace

void BroadcastBlocks(Group& group, std::span<const StateBlock> blocks) {
  std::vector<std::uint8_t> all(SizeOf(blocks));
  if (group.rank() == 0) {
    std::uint8_t* at = all.data();
    for (const StateBlock& block : blocks) {
      std::memcpy(at, block.data, block.bytes);
      at += block.bytes;
    }
  }
  group.Broadcast(&all);
  if (group.rank() != 0) Unpack(all, blocks);
}

std::vector<int> RanksThatPassState(Group& group, bool lacks) {
  std::vector<float> lacking(static_cast<std::size_t>(group.size()), 0);
  lacking[static_cast<std::size_t>(group.rank())] = lacks ? 1 : 0;
  group.Sum(&lacking);
  lacking[0] = 1;
  std::vector<int> ranks;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (lacking[static_cast<std::size_t>(rank)] > 0) ranks.push_back(rank);
  }
  return ranks;
}

void PassState(Group& group, std::span<const int> ranks, bool whole,
               std::span<const StateBlock> state) {
  if (std::find(ranks.begin(), ranks.end(), group.rank()) == ranks.end()) return;
  if (!whole) return group.PassState(state, ranks);
  std::vector<std::uint8_t> all(SizeOf(state));
  const StateBlock block{all.data(), all.size()};
  group.PassState({&block, 1}, ranks);
  Unpack(all, state);
}

}  // namespace allot
