#pragma once
// The stores by which gloo's pairs find each other, as libtorch wants them. Used by Group.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "elastic/member.h"

namespace allot {

inline constexpr std::chrono::seconds kMeet{20};  // for a peer that starts slowly

// Whether the addresses of all members say `version` of MeetingPlace or a later one.
bool AllKnow(const Epoch& epoch, int version);

// Throws GroupBroken where the epoch has been overtaken, or this member is told to stop.
void LookUp(const Member& member, std::int64_t epoch);

// The EpochStore of rank 0. This store and those below call `look` while they wait, from the thread
// that waits: what it throws ends the wait.
c10::intrusive_ptr<c10d::Store> VisitEpochStore(const Member& member, const Epoch& epoch,
                                                std::function<void()> look);

// Of a group with a worker of an earlier version: torch's TCPStore, which anybody can connect to.
// As rank 0 offers it, and as others find it there; that takes until rank 0 knows of the epoch.
c10::intrusive_ptr<c10d::Store> OfferTcpStore(std::uint16_t port);
c10::intrusive_ptr<c10d::Store> VisitTcpStore(const Member& member, const Epoch& epoch,
                                              const std::function<void()>& look);
// That store, with this group's keys behind a prefix that only those know who know the token.
c10::intrusive_ptr<c10d::Store> PrefixTcpStore(const Member& member, const Epoch& epoch,
                                               std::function<void()> look,
                                               c10::intrusive_ptr<c10d::Store> store);

}  // namespace allot
