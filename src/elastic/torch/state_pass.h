#pragma once
// The training state on its way through a group, by the route of each member
// (elastic/state_route.h): over gloo, which sends on what has come piece by piece, and between
// members of one machine from memory to memory. Used by Group.

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
  // Whether it is vain to wait on for a peer; asked from a thread of its own.
  std::function<bool()> left_behind;
  std::chrono::milliseconds patience{};  // before that is asked
  std::function<bool(std::span<const std::uint8_t> offer, std::span<const StateBlock> into)> read =
      ReadOfferedMemory;

  // Returns once this member has the state, and nobody needs its memory any more. Throws what gloo
  // throws, and GroupBroken for a peer that is left behind: blocks are half filled then.
  void Run(std::span<const StateBlock> blocks, const StateRoute& route) const;
};

}  // namespace allot
