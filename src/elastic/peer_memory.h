#pragma once
// Training state read straight from the memory of another process of this user on this machine
// (process_vm_readv): one copy, and nothing to say but that it may be read, and that it was. For
// StatePass (torch/state_pass.h).

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "elastic/checkpoint_file.h"

namespace allot {

// While it lives other processes of this user may read this one's memory, where the system keeps
// that to a process's own descendants otherwise (Yama). Not two at a time; what the program itself
// said to Yama (PR_SET_PTRACER) does not hold any more afterwards.
class OfferedMemory {
 public:
  explicit OfferedMemory(std::span<const StateBlock> blocks);
  ~OfferedMemory();
  OfferedMemory(const OfferedMemory&) = delete;
  OfferedMemory& operator=(const OfferedMemory&) = delete;

  // For the reader: which process, where, and a secret by which it knows that it has the right one.
  // In this machine's byte order.
  std::vector<std::uint8_t> offer() const;

 private:
  std::array<char, 32> secret_;
  std::vector<StateBlock> blocks_;
};

// Fills `into`, which has as many bytes as what is offered. False where the system does not let
// this process read the other one, or that is no process of this machine: `into` may be half filled
// then. RunError where the offer is damaged, or of another number of bytes.
bool ReadOfferedMemory(std::span<const std::uint8_t> offer, std::span<const StateBlock> into);

}  // namespace allot
