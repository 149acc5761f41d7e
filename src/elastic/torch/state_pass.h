#pragma once
// Passes the training state through a group by the route of each member (elastic/state_route.h):
// piece by piece over gloo, and from memory to memory between members on one machine. Used by
// Group.

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "elastic/checkpoint_file.h"
#include "elastic/peer_memory.h"
#include "elastic/state_route.h"

namespace allot {

struct StatePass {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;
  // True if a peer cannot answer any more; called from a thread of its own.
  std::function<bool()> left_behind;
  std::chrono::milliseconds patience{};  // before the first such call
  std::function<bool(std::span<const std::uint8_t> offer, std::span<const StateBlock> into)> read =
      ReadOfferedMemory;

  // Returns once this member has the state and nobody needs its memory. Passes on exceptions of
  // gloo, and throws GroupBroken for a peer that cannot answer; blocks are then half filled.
  void Run(std::span<const StateBlock> blocks, const StateRoute& route) const;
};

}  // namespace allot
