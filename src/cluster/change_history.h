#pragma once
// When a job's GPUs were changed, and from that whether a rule holds the job as it is now: the one
// place for cooldowns, restarts an hour and jobs that are never moved. Simulated and live clusters
// note every change here, and hide jobs that are held, with their GPUs, from policies. A value.
//
// A rule holds only what a job has: one that waits may begin at any time. It binds policies only:
// nodes that go down, users and administrators are stronger.

#include <string>
#include <string_view>
#include <vector>

#include "cluster/operator_rules.h"
#include "core/types.h"

namespace allot {

enum class HoldingRule { kNone, kCooldown, kRestarts, kNeverMoved };
inline constexpr HoldingRule kHoldingRules[] = {HoldingRule::kCooldown, HoldingRule::kRestarts,
                                                HoldingRule::kNeverMoved};
std::string_view NameOf(HoldingRule rule);  // "cooldown"

// The rule that holds a job longest, and until when; kNever: until it ends.
struct Hold {
  HoldingRule rule = HoldingRule::kNone;
  Seconds until = 0;
  explicit operator bool() const { return rule != HoldingRule::kNone; }
};

class ChangeHistory {
 public:
  static constexpr Seconds kHour = 3600;

  // It was given what it has. `first`: the launch of a job that never ran, which is no restart.
  void Given(Seconds now, bool first);
  // It lost a part of that, and not by a decision: it may be changed at once.
  void Lost() { lost_ = true; }

  // Of a job that runs.
  Hold HoldOf(const JobRules& rules, Seconds now) const;

  // For a journal.
  Seconds last() const { return last_; }  // -kNever: never
  bool lost() const { return lost_; }
  const std::vector<Seconds>& restarts() const { return restarts_; }  // of the last hour, ascending
  static ChangeHistory Of(Seconds last, std::vector<Seconds> restarts, bool lost);

 private:
  Seconds last_ = -kNever;
  bool lost_ = false;
  std::vector<Seconds> restarts_;
};

}  // namespace allot
