#pragma once
// The store by which gloo's pairs find each other, as libtorch wants it. Used by Group.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "elastic/member.h"

namespace allot {

inline constexpr std::chrono::seconds kMeet{20};  // for a peer that starts slowly

// Throws GroupBroken where the epoch has been overtaken, or this member is told to stop.
void LookUp(const Member& member, std::int64_t epoch);

// The EpochStore of rank 0. It calls `look` while it waits, from the thread that waits: what that
// throws ends the wait.
c10::intrusive_ptr<c10d::Store> VisitEpochStore(const Member& member, const Epoch& epoch,
                                                std::function<void()> look);

}  // namespace allot
