#include "sim/simulated_rules.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/index.h"
#include "sim/node_events.h"

namespace allot {

SimulatedRules::SimulatedRules(const Scenario& scenario)
    : scenario_(scenario),
      histories_(scenario.workload().jobs.size()),
      changes_(histories_.size(), 0),
      windows_(WindowsOf(*scenario.options().rules, scenario.workload(),
                         scenario.cluster().nodes().size())) {
  const auto& fair_share = scenario.options().rules->fair_share();
  if (!fair_share) return;
  usage_.emplace(fair_share->half_life);
  attained_.resize(histories_.size());
}

// The job has had so many GPU seconds until now.
void SimulatedRules::Use(JobIndex job, double attained, Seconds now) {
  const Job& of = scenario_.workload().jobs[At(job)];
  const double before = std::exchange(attained_[At(job)], attained);
  if (attained > before) usage_->Add({of.tenant, of.user}, attained - before, now);
}

const Constraints& SimulatedRules::ConstraintsOn(const Observation& all) {
  constraints_ = {};
  if (usage_) {
    constraints_.usage = &*usage_;
    for (const EndedJob& job : all.events.ended) Use(job.job, job.gpu_seconds, all.now);
  }
  for (std::size_t r = 0; r < all.job.size(); ++r) {
    const JobRules& rules = scenario_.RulesOf(all.job[r]);
    ChangeHistory& history = histories_[At(all.job[r])];
    std::int32_t& seen = changes_[At(all.job[r])];
    if (all.changes[r] != seen) history.Given(all.now, seen == 0);
    seen = all.changes[r];
    const Pin pin = all.running[r] < 0 ? Pin{} : history.PinOf(rules, all.now);
    constraints_.AddRow(pin, false, rules, {all.tenant[r], all.user[r]});
    if (usage_) Use(all.job[r], all.attained_gpu_seconds[r], all.now);
  }
  // GPUs that a job gives up on such a node may still be given to another one.
  for (const NodeIndex node : windows_.Near(all.now)) {
    constraints_.node_use.resize(all.cluster->nodes().size(), NodeUse::kOpen);
    constraints_.node_use[At(node)] = NodeUse::kNoFreeGpus;
  }
  constraints_.valid_until = std::min(constraints_.valid_until, windows_.NextNear(all.now));
  return constraints_;
}

void SimulatedRules::OnCorrections(const Corrections& corrections) {
  ALLOT_CHECK(corrections.not_kept.ok());
}

}  // namespace allot
