#pragma once
// A policy that holds on to each answer for a while: it is asked when something happens, and else
// no sooner than `step` later. So the futures of a long queue cost less. What it promises as an
// IncrementalPolicy is not what the policy would answer, but near enough for a forecast. Wraps one
// that outlives it.

#include <algorithm>

#include "sched/incremental.h"
#include "sched/policy.h"

namespace allot {

class SeldomAsked : public Policy, public IncrementalPolicy {
 public:
  SeldomAsked(Policy& inside, Seconds begin, double step)
      : inside_(inside), begin_(begin), step_(step) {}

  const PolicyInfo& info() const override { return inside_.info(); }
  void OnEpisodeStart(const EpisodeContext& context) override { inside_.OnEpisodeStart(context); }
  void Decide(const Observation& o, Allocation* allocation) override {
    inside_.Decide(o, allocation);
  }
  IncrementalPolicy* incremental() override { return this; }
  bool DecideChanges(const Observation& o, AllocationChanges* changes) override {
    IncrementalPolicy* const side = inside_.incremental();
    return side != nullptr && side->DecideChanges(o, changes);
  }
  Seconds HoldsUntil(const Observation& o, std::span<const std::int32_t> running) override {
    return std::max(allot::HoldsUntil(inside_, o, running), o.now + step_ * (o.now - begin_));
  }

 private:
  Policy& inside_;
  Seconds begin_;
  double step_;
};

}  // namespace allot
