#include "sim/followed_truth.h"

#include <utility>
#include <vector>

namespace allot {

FollowedTruth::FollowedTruth(const Scenario& scenario, Factor factor)
    : scenario_(scenario), factor_(std::move(factor)) {}

const ConfigurationTable* FollowedTruth::TableOf(JobIndex job) {
  const Scenario::JobFacts& facts = scenario_.facts(job);
  const bool alone = facts.process != nullptr;
  if (!alone && !factor_) return facts.table.get();
  std::unique_ptr<ConfigurationTable>& table = alone ? own_[job] : shared_[facts.table.get()];
  if (table == nullptr) {
    table = std::make_unique<ConfigurationTable>(*facts.table);
    Renew(job, 0, table.get());
  }
  return table.get();
}

bool FollowedTruth::See(const Sight& sight) {
  const auto own = own_.find(sight.job);
  return own != own_.end() && Renew(sight.job, sight.done, own->second.get());
}

bool FollowedTruth::Renew(JobIndex job, double done, ConfigurationTable* table) const {
  const Scenario::JobFacts& facts = scenario_.facts(job);
  std::vector<double> rates;
  bool same = true;
  for (std::int32_t c = 0; c < table->size(); ++c) {
    double rate = (*facts.table)[c].rate;
    if (facts.process != nullptr) {
      rate = facts.process->SegmentAt({*facts.table, c, {}}, done).rate;
    }
    if (factor_) rate *= factor_(*facts.table, c);
    same = same && rate == (*table)[c].rate;
    rates.push_back(rate);
  }
  if (!same) table->Renew(rates);
  return !same;
}

}  // namespace allot
