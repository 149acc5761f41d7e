#include "live/port/live_guarantees.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "cluster/guarantee_owners.h"
#include "live/port/live_rules.h"

namespace allot {

LiveGuarantees::LiveGuarantees(std::shared_ptr<const OperatorRules> rules)
    : rules_(std::move(rules)) {
  if (rules_ != nullptr && !rules_->guarantees().empty()) shares_.emplace(rules_->guarantees());
}

void LiveGuarantees::FindOwners(const Observation& observation, const JobTable& table) {
  GuaranteeOwners owners(rules_->guarantees(), table.nominal(), &owner_, &hidden_);
  for (const JobIndex job : observation.job) {
    owners.AddRow(table.jobs().at(job).rules.guarantee);
  }
  for (const LiveJob* job : table.active()) {
    const bool seen = std::ranges::binary_search(observation.job, job->index);
    if (job->running < 0 || seen) continue;
    owners.AddHidden(job->rules.guarantee, (*job->table)[job->running]);
  }
}

const Allocation& LiveGuarantees::Kept(const Observation& observation, const JobTable& table,
                                       const Allocation& answer) {
  put_right_ = false;
  if (!shares_) return answer;
  FindOwners(observation, table);
  if (!shares_->Enforce(observation, owner_, hidden_, answer)) return answer;
  const Status legal = ValidateLiveAllocation(observation, shares_->allocation());
  if (!legal.ok()) {  // a fault of ours: the policy's answer is legal
    spdlog::error("guarantees are not enforced, because the corrected answer is not legal: {}",
                  legal.message());
    return answer;
  }
  put_right_ = true;
  return shares_->allocation();
}

}  // namespace allot
