#pragma once
// A policy whose answers stay valid for a while, which makes the futures of a long queue cheaper:
// without an event it is asked again only after a fraction `step` of the time since `begin`. Its
// promise as an IncrementalPolicy is an approximation that suffices for a forecast. The wrapped
// policy must outlive it.

#include <algorithm>

#include "sched/incremental.h"
#include "sched/policy.h"

namespace allot {

class ThrottledPolicy : public Policy, public IncrementalPolicy {
 public:
  ThrottledPolicy(Policy& inside, Seconds begin, double step)
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
