#pragma once
// Reads training state straight from the memory of another process of this user on this machine
// (process_vm_readv): one copy, and two messages, that it may be read and that it was. Used by
// StatePass (torch/state_pass.h).

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "elastic/checkpoint_file.h"

namespace allot {

// While an object lives, other processes of this user may read this one's memory, which Yama
// otherwise allows only to a process's ancestors. At most one object at a time. Afterwards the
// program's own setting for Yama (PR_SET_PTRACER) is lost.
class OfferedMemory {
 public:
  explicit OfferedMemory(std::span<const StateBlock> blocks);
  ~OfferedMemory();
  OfferedMemory(const OfferedMemory&) = delete;
  OfferedMemory& operator=(const OfferedMemory&) = delete;

  // The message for the reader: process, addresses, and a secret by which the reader recognises the
  // right process. In this machine's byte order.
  std::vector<std::uint8_t> offer() const;

 private:
  std::array<char, 32> secret_;
  std::vector<StateBlock> blocks_;
};

// Fills `into`, which has as many bytes as the offer. False if the system does not let this process
// read the other one, or that is no process of this machine; `into` may then be half filled.
// RunError if the offer is damaged or has another number of bytes.
bool ReadOfferedMemory(std::span<const std::uint8_t> offer, std::span<const StateBlock> into);

}  // namespace allot
