#include "sim/simulated_rules.h"

#include <algorithm>
#include <string>

#include "cluster/guarantee_owners.h"
#include "core/index.h"
#include "workload/calendar.h"

namespace allot {

SimulatedRules::SimulatedRules(const Scenario& scenario)
    : scenario_(scenario), histories_(scenario.workload().jobs.size()) {
  const std::vector<Guarantee>& guarantees = scenario.options().rules->guarantees();
  if (!guarantees.empty()) shares_.emplace(guarantees);
  FindLeads();
}

void SimulatedRules::FindLeads() {
  const std::size_t nodes = scenario_.cluster().nodes().size();
  for (const Maintenance& window : scenario_.options().rules->maintenance()) {
    if (window.lead == 0) continue;
    const Seconds from = ParseWhen(scenario_.workload(), window.from);
    for (std::size_t n = 0; n < nodes; ++n) {
      if (!window.IsOf(std::to_string(n))) continue;
      leads_.push_back({static_cast<NodeIndex>(n), from - window.lead, from});
    }
  }
}

void SimulatedRules::Show(const Observation& all, bool tell) {
  // What the policy promised is of its own answer.
  next_change_ = put_right_ ? all.now : kNever;
  FindFixed(all);
  CloseNodes(all);
  view_.Show(all, fixed_, closed_, tell);
  if (shares_) FindOwners(all);
}

void SimulatedRules::FindFixed(const Observation& all) {
  fixed_.assign(all.job.size(), false);
  for (std::size_t r = 0; r < all.job.size(); ++r) {
    if (all.running[r] < 0) continue;
    const JobIndex job = all.job[r];
    const Hold hold = histories_[At(job)].HoldOf(scenario_.RulesOf(job), all.now);
    fixed_[r] = static_cast<bool>(hold);
    if (hold) next_change_ = std::min(next_change_, hold.until);
  }
  // Who shares its GPUs with a fixed job is fixed too. Rows ascend by job.
  for (std::size_t r = 0; r < all.partner.size(); ++r) {
    if (!fixed_[r] || all.partner[r] == kAlone) continue;
    const auto partner = std::lower_bound(all.job.begin(), all.job.end(), all.partner[r]);
    fixed_[static_cast<std::size_t>(partner - all.job.begin())] = true;
  }
}

void SimulatedRules::CloseNodes(const Observation& all) {
  closed_.clear();
  for (const Lead& lead : leads_) {
    if (all.now < lead.from) next_change_ = std::min(next_change_, lead.from);
    if (all.now < lead.from || all.now >= lead.to) continue;
    closed_.resize(all.cluster->nodes().size());
    closed_[At(lead.node)] = ~std::uint64_t{0};
  }
  if (closed_.empty()) return;
  for (const NodeShare& share : all.shares) closed_[At(share.node)] &= ~share.gpus;
}

void SimulatedRules::FindOwners(const Observation& all) {
  GuaranteeOwners owners(scenario_.options().rules->guarantees(), *all.cluster, &owner_, &hidden_);
  for (std::size_t r = 0; r < all.job.size(); ++r) {
    const std::int32_t guarantee = scenario_.RulesOf(all.job[r]).guarantee;
    if (fixed_[r]) {
      owners.AddHidden(guarantee, (*all.table[r])[all.running[r]]);
    } else {
      owners.AddRow(guarantee);
    }
  }
}

Status SimulatedRules::Check(const Allocation& answer) const {
  if (!shares_ || !answer.has_partners()) return Status::Ok();
  return Status::Refused(
      "guaranteed shares are of jobs that are alone on their GPUs, got jobs that share some");
}

const Allocation& SimulatedRules::Meant(const Observation& all, const Allocation& answer) {
  if (shares_ && shares_->Enforce(shown(), owner_, hidden_, answer)) {
    view_.Mean(all, shares_->allocation(), &meant_);
    put_right_ = true;
  } else {
    view_.Mean(all, answer, &meant_);
    put_right_ = false;
  }
  return meant_;
}

}  // namespace allot
