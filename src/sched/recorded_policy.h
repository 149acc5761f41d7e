#pragma once
// Decisions as data: collected from any run, and played back as a policy. With the same scenario
// the playback gives the same JCTs, which is what makes a log a proof, and lets a network learn
// from it.

#include <functional>
#include <vector>

#include "sched/driver.h"
#include "sched/incremental.h"
#include "sched/policy.h"

namespace allot {

struct DecisionLog {
  std::vector<Seconds> times{};
  std::vector<Allocation> allocations{};
};

// Shows a listener every decision of a run, in their order.
using Playback = std::function<void(DecisionListener* listener)>;

class DecisionCollector : public DecisionListener {
 public:
  explicit DecisionCollector(DecisionLog* log) : log_(log) {}
  void OnDecision(const Observation& observation, const Allocation& allocation) override;

 private:
  DecisionLog* log_;
};

// DataError when an observation comes at another time than the log has, or after its end.
class RecordedPolicy : public Policy, public IncrementalPolicy {
 public:
  explicit RecordedPolicy(const DecisionLog& log);
  const PolicyInfo& info() const override { return info_; }
  void OnEpisodeStart(const EpisodeContext&) override { next_ = 0; }
  void Decide(const Observation& observation, Allocation* allocation) override;
  IncrementalPolicy* incremental() override { return this; }
  Seconds HoldsUntil(const Observation& observation,
                     std::span<const std::int32_t> running) override;

 private:
  const DecisionLog& log_;
  PolicyInfo info_;
  std::size_t next_ = 0;
};

}  // namespace allot
