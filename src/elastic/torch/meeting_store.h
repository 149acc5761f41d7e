#pragma once
// The EpochStore behind libtorch's interface, through which gloo's pairs connect. Used by Group.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "elastic/member.h"

namespace allot {

inline constexpr std::chrono::seconds kMeet{20};  // for a peer that starts slowly

// Throws GroupBroken if a later epoch has begun or this member is to stop.
void CheckEpoch(const Member& member, std::int64_t epoch);

// The EpochStore of rank 0. The waiting thread calls `check` meanwhile, which may throw to end the
// wait.
c10::intrusive_ptr<c10d::Store> VisitEpochStore(const Member& member, const Epoch& epoch,
                                                std::function<void()> check);

}  // namespace allot
