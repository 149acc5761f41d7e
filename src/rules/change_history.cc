#include "rules/change_history.h"

#include <algorithm>
#include <utility>

#include "core/index.h"

namespace allot {

std::string_view NameOf(PinningRule rule) {
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

Pin ChangeHistory::PinOf(const JobRules& rules, Seconds now) const {
  if (lost_) return {};
  if (!rules.moves) return {PinningRule::kNeverMoved, kNever};
  Pin pin;
  const auto longer = [&](PinningRule rule, Seconds until) {
    if (until > now && until > pin.until) pin = {rule, until};
  };
  if (rules.cooldown > 0) longer(PinningRule::kCooldown, last_ + rules.cooldown);
  if (rules.restarts_per_hour == 0) {
    longer(PinningRule::kRestarts, kNever);
  } else if (rules.restarts_per_hour > 0 && restarts_.size() >= At(rules.restarts_per_hour)) {
    longer(PinningRule::kRestarts,
           restarts_[restarts_.size() - At(rules.restarts_per_hour)] + kHour);
  }
  return pin;
}

ChangeHistory ChangeHistory::Of(Seconds last, std::vector<Seconds> restarts, bool lost) {
  ChangeHistory history;
  history.last_ = last;
  history.restarts_ = std::move(restarts);
  history.lost_ = lost;
  return history;
}

}  // namespace allot
