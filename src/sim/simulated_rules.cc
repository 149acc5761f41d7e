#include "sim/simulated_rules.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/index.h"
#include "sim/node_events.h"

namespace allot {
namespace {

MaintenanceWindows WindowsIn(const Scenario& scenario) {
  const OperatorRules* const rules = scenario.options().rules.get();
  return WindowsOf(rules == nullptr ? OperatorRules() : *rules, scenario.workload(),
                   scenario.cluster().nodes().size());
}

}  // namespace

SimulatedRules::SimulatedRules(const Scenario& scenario, const FailedStarts* starts)
    : scenario_(scenario),
      starts_(starts),
      histories_(scenario.workload().jobs.size()),
      changes_(histories_.size(), 0),
      windows_(WindowsIn(scenario)) {
  if (scenario.options().rules == nullptr) return;
  const auto& fair_share = scenario.options().rules->fair_share();
  if (!fair_share) return;
  usage_.emplace(fair_share->half_life);
  attained_.resize(histories_.size());
}

SimulatedRules::SimulatedRules(const Scenario& scenario, const Observation& start,
                               const RulesPast& past)
    : SimulatedRules(scenario) {
  known_ = past.jobs;
  for (const auto& [submitter, rules, asks] : known_) {
    accounts_.try_emplace(submitter.user, submitter.account);
  }
  std::copy(start.changes.begin(), start.changes.end(), changes_.begin());
  if (!usage_ || past.usage == nullptr) return;
  usage_ = *past.usage;
  std::copy(start.attained_gpu_seconds.begin(), start.attained_gpu_seconds.end(),
            attained_.begin());
}

Submitter SimulatedRules::SubmitterOf(JobIndex job) const {
  if (At(job) < known_.size()) return known_[At(job)].submitter;
  const Job& of = scenario_.workload().jobs[At(job)];
  const auto known = of.tenant < 0 ? accounts_.find(of.user) : accounts_.end();
  return {known == accounts_.end() ? of.tenant : known->second, of.user};
}

// The job has had so many GPU seconds until now.
void SimulatedRules::Use(JobIndex job, double attained, Seconds now) {
  const double before = std::exchange(attained_[At(job)], attained);
  if (attained > before) usage_->Add(SubmitterOf(job), attained - before, now);
}

const Constraints& SimulatedRules::ConstraintsOn(const Observation& all) {
  constraints_ = {};
  if (usage_) {
    constraints_.usage = &*usage_;
    for (const EndedJob& job : all.events.ended) Use(job.job, job.gpu_seconds, all.now);
  }
  for (std::size_t r = 0; r < all.job.size(); ++r) {
    const bool known = At(all.job[r]) < known_.size();
    const JobRules& rules = known ? known_[At(all.job[r])].rules : scenario_.RulesOf(all.job[r]);
    ChangeHistory& history = histories_[At(all.job[r])];
    std::int32_t& seen = changes_[At(all.job[r])];
    if (all.changes[r] != seen) history.Given(all.now, seen == 0);
    seen = all.changes[r];
    const Pin pin = all.running[r] < 0 ? Pin{} : history.PinOf(rules, all.now);
    constraints_.AddRow(pin, false, rules, SubmitterOf(all.job[r]),
                        known ? known_[At(all.job[r])].asks : std::nullopt);
    if (usage_) Use(all.job[r], all.attained_gpu_seconds[r], all.now);
  }
  // GPUs that a job gives up on such a node may still be given to another one.
  for (const NodeIndex node : windows_.Near(all.now)) {
    constraints_.node_use.resize(all.cluster->nodes().size(), NodeUse::kOpen);
    constraints_.node_use[At(node)] = NodeUse::kNoFreeGpus;
  }
  constraints_.valid_until = std::min(constraints_.valid_until, windows_.NextNear(all.now));
  if (starts_ != nullptr) AvoidNodes(all);
  return constraints_;
}

void SimulatedRules::AvoidNodes(const Observation& all) {
  const std::size_t nodes = all.cluster->nodes().size();
  for (const NodeIndex node : starts_->AvoidedNodes()) {
    constraints_.node_use.resize(nodes, NodeUse::kOpen);
    constraints_.node_use[At(node)] = NodeUse::kNoStarts;
  }
  const auto failed = starts_->FindFailedNodes(all);
  if (failed.empty()) return;
  constraints_.nodes_of.resize(all.job.size());
  for (std::size_t r = 0; r < all.job.size(); ++r) {
    const auto of_job = failed.find(all.job[r]);
    if (of_job != failed.end()) constraints_.nodes_of[r].avoided = of_job->second;
  }
  for (std::size_t n = 0; n < nodes; ++n) constraints_.node_names.push_back(std::to_string(n));
  constraints_.valid_until =
      std::min(constraints_.valid_until, all.now + NodeSuspicion::kRetryElsewhere);
}

void SimulatedRules::OnCorrections(const Corrections& corrections) {
  ALLOT_CHECK(corrections.not_kept.ok());
}

}  // namespace allot
