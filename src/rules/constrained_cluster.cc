#include "rules/constrained_cluster.h"

#include <algorithm>
#include <utility>

#include "core/index.h"
#include "rules/node_requirements.h"

namespace allot {

ConstrainedCluster::ConstrainedCluster(ClusterPort& inside, ConstraintSource& source,
                                       std::vector<Guarantee> guarantees, Validator validator)
    : inside_(inside),
      source_(source),
      validator_(validator),
      entitlements_(std::move(guarantees)) {
  Show(true);
}

void ConstrainedCluster::SetGuarantees(std::vector<Guarantee> guarantees) {
  entitlements_ = Entitlements(std::move(guarantees));
}

void ConstrainedCluster::Show(bool next_decision) {
  const Observation& all = inside_.Observe();
  constraints_ = &source_.ConstraintsOn(all);
  view_.Show(all, *constraints_, next_decision);
}

Status ConstrainedCluster::Validate(const Allocation& answer) const {
  if (!entitlements_.guarantees().empty() && answer.has_partners()) {
    return Status::Refused("guarantees count whole GPUs, got jobs that share some");
  }
  return validator_(Observe(), answer);
}

ApplyReport ConstrainedCluster::Apply(const Allocation& answer) {
  if (applied_decision_ == Observe().decision) return {};
  ApplyReport report;
  report.refused = Validate(answer);
  return report.refused.ok() ? ApplyValidated(answer) : report;
}

ApplyReport ConstrainedCluster::ApplyValidated(const Allocation& answer) {
  if (applied_decision_ == Observe().decision) return {};
  corrections_ = {};
  const Observation& all = inside_.Observe();
  view_.Translate(all, Correct(answer), &full_);
  KeepNodeRequirements(all, *constraints_, view_, &full_, &corrections_.unplaced);
  source_.OnCorrections(corrections_);
  ApplyReport report = inside_.ApplyValidated(full_);
  if (!report.refused.ok()) return report;
  applied_decision_ = all.decision;
  Show(false);
  return report;
}

void ConstrainedCluster::FindGuarantees() {
  const Observation& all = inside_.Observe();
  const std::vector<Guarantee>& guarantees = entitlements_.guarantees();
  guarantee_.clear();
  hidden_gpus_.assign(guarantees.size(), 0);
  for (std::size_t r = 0; r < all.job.size(); ++r) {
    const std::int32_t guarantee = constraints_->guarantee[r];
    if (!view_.hidden()[r]) {
      guarantee_.push_back(guarantee);
    } else if (guarantee >= 0 && all.running[r] >= 0) {
      const Configuration& runs = (*all.table[r])[all.running[r]];
      const std::string& type = all.cluster->types()[At(runs.gpu_type)];
      if (guarantees[At(guarantee)].Counts(type)) hidden_gpus_[At(guarantee)] += runs.demand.gpus;
    }
  }
}

const Allocation& ConstrainedCluster::Correct(const Allocation& answer) {
  contended_ = false;
  const bool shares = constraints_->usage != nullptr && !answer.has_partners();
  if (entitlements_.guarantees().empty() && !shares) return answer;
  FindGuarantees();
  Entitlements::Basis basis{guarantee_, hidden_gpus_, {}, {}, {}};
  if (shares) {
    fair_shares_.Find(inside_.Observe(), *constraints_, view_.hidden(), *Observe().cluster,
                      entitlements_.guarantees());
    if (fair_shares_.shares().size() > 1) {
      contended_ = fair_shares_.contended();
      basis.shares = fair_shares_.shares();
      basis.share_of_row = fair_shares_.share_of_row();
      basis.asked_of_row = fair_shares_.asked_of_row();
    }
  }
  const Corrections::Reason reason = entitlements_.Enforce(Observe(), basis, answer);
  if (reason == Corrections::Reason::kNone) return answer;
  corrections_.not_kept = validator_(Observe(), entitlements_.allocation());
  if (!corrections_.not_kept.ok()) return answer;
  corrections_.reason = reason;
  return entitlements_.allocation();
}

bool ConstrainedCluster::WaitForChange(Seconds valid_until) {
  // The policy promised validity for its own answer, not for the corrected one.
  const Seconds now = Observe().now;
  valid_until = std::min(valid_until, constraints_->valid_until);
  if (contended_) valid_until = std::min(valid_until, now + FairShares::kReview);
  if (corrections_.reason != Corrections::Reason::kNone) valid_until = std::min(valid_until, now);
  const bool more = inside_.WaitForChange(valid_until);
  Show(more);
  return more;
}

}  // namespace allot
