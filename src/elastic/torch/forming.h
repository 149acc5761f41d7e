#pragma once
// Connects the members of an epoch by gloo, in a thread that can be abandoned: if a peer has died
// or has joined a later epoch, gloo waits for its whole timeout, and nothing can end that wait.
// Used by Group.

#include <chrono>
#include <memory>
#include <mutex>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "elastic/member.h"

namespace allot {

// The time that peers get once a later epoch is known: those that still connect do so at once.
inline constexpr std::chrono::seconds kOvertaken{1};

// One attempt. Held by shared_ptr, because an abandoned thread keeps using it.
class Forming {
 public:
  using Gloo = c10::intrusive_ptr<c10d::ProcessGroupGloo>;
  using Options = c10::intrusive_ptr<c10d::ProcessGroupGloo::Options>;

  // `member` lives until Connect has returned or thrown.
  Forming(const Member& member, const Epoch& epoch);

  // Called by the store while it waits for peers: throws GroupBroken once the group is not needed.
  void Check() const;

  // Returns the group once all its pairs are connected. GroupBroken if the epoch is overtaken, or
  // this member is to stop, and peers do not connect within kOvertaken. Passes on exceptions of
  // gloo and the store.
  Gloo Connect(const c10::intrusive_ptr<c10d::Store>& store, const Options& options);

 private:
  const Member& member_;
  const std::int64_t number_;
  const int rank_;
  const int size_;
  mutable std::mutex mutex_;
  bool abandoned_ = false;  // `member_` may be gone then
};

}  // namespace allot
