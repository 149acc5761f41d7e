#pragma once
// When the allocation of a job was changed, and from that whether a rule pins the job now: the one
// place for cooldowns, restarts an hour and jobs that are never moved. Simulated and live clusters
// record every change here. A value.
//
// A rule pins only a job that runs: one that waits may start at any time. It binds policies only:
// nodes that go down, users and administrators are stronger.

#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "rules/operator_rules.h"

namespace allot {

enum class PinningRule { kNone, kCooldown, kRestarts, kNeverMoved };
inline constexpr PinningRule kPinningRules[] = {PinningRule::kCooldown, PinningRule::kRestarts,
                                                PinningRule::kNeverMoved};
std::string_view NameOf(PinningRule rule);  // "cooldown"

// The rule that pins a job longest, and until when; kNever: until it ends. False: no rule does.
struct Pin {
  PinningRule rule = PinningRule::kNone;
  Seconds until = 0;
  explicit operator bool() const { return rule != PinningRule::kNone; }
};

class ChangeHistory {
 public:
  static constexpr Seconds kHour = 3600;

  // It was given what it has. `first`: the launch of a job that never ran, which is no restart.
  void Given(Seconds now, bool first);
  // It lost a part of that, and not by a decision: it may be changed at once.
  void Lost() { lost_ = true; }

  // The job must run.
  Pin PinOf(const JobRules& rules, Seconds now) const;

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
