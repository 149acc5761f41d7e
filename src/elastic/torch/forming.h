#pragma once
// How gloo connects the members of an epoch: in a thread that can be left. Who listens for a peer
// that has died since, or has heard of a later epoch first, waits for gloo's timeout, and nothing
// ends that wait. Used by Group.

#include <chrono>
#include <memory>
#include <mutex>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "elastic/member.h"

namespace allot {

// For peers to come all the same, once a later epoch is known: all that still come do at once.
inline constexpr std::chrono::seconds kOvertaken{1};

// One attempt, in a shared_ptr: what is left behind keeps it.
class Forming {
 public:
  using Gloo = c10::intrusive_ptr<c10d::ProcessGroupGloo>;
  using Options = c10::intrusive_ptr<c10d::ProcessGroupGloo::Options>;

  // `member` lives until Connect has returned or thrown.
  Forming(const Member& member, const Epoch& epoch);

  // For a store that waits for peers: throws GroupBroken where nobody wants the group any more.
  void Look() const;

  // The group, once all its pairs are connected. GroupBroken: the epoch is overtaken, or this
  // member told to stop, and peers do not come within kOvertaken. Else what gloo and the store
  // throw.
  Gloo Connect(const c10::intrusive_ptr<c10d::Store>& store, const Options& options);

 private:
  const Member& member_;
  const std::int64_t number_;
  const int rank_;
  const int size_;
  mutable std::mutex mutex_;
  bool left_ = false;  // from then on `member_` may be gone
};

}  // namespace allot
