#include "cluster/change_history.h"

#include <algorithm>
#include <utility>

#include "core/index.h"

namespace allot {

std::string_view NameOf(HoldingRule rule) {
  constexpr std::string_view kNames[] = {"none", "cooldown", "restarts an hour", "never moved"};
  return kNames[static_cast<std::size_t>(rule)];
}

void ChangeHistory::Given(Seconds now, bool first) {
  last_ = now;
  lost_ = false;
  const auto recent = std::upper_bound(restarts_.begin(), restarts_.end(), now - kHour);
  restarts_.erase(restarts_.begin(), recent);
  if (!first) restarts_.push_back(now);
}

Hold ChangeHistory::HoldOf(const JobRules& rules, Seconds now) const {
  if (lost_) return {};
  if (!rules.moves) return {HoldingRule::kNeverMoved, kNever};
  Hold hold;
  const auto longer = [&](HoldingRule rule, Seconds until) {
    if (until > now && until > hold.until) hold = {rule, until};
  };
  if (rules.cooldown > 0) longer(HoldingRule::kCooldown, last_ + rules.cooldown);
  if (rules.restarts_per_hour == 0) {
    longer(HoldingRule::kRestarts, kNever);
  } else if (rules.restarts_per_hour > 0 && restarts_.size() >= At(rules.restarts_per_hour)) {
    longer(HoldingRule::kRestarts,
           restarts_[restarts_.size() - At(rules.restarts_per_hour)] + kHour);
  }
  return hold;
}

ChangeHistory ChangeHistory::Of(Seconds last, std::vector<Seconds> restarts, bool lost) {
  ChangeHistory history;
  history.last_ = last;
  history.restarts_ = std::move(restarts);
  history.lost_ = lost;
  return history;
}

}  // namespace allot
