#include "sim/followed_truth.h"

#include <algorithm>
#include <utility>

#include "core/index.h"

namespace allot {

FollowedTruth::FollowedTruth(const Scenario& scenario, Factor factor)
    : scenario_(scenario), factor_(std::move(factor)) {}

bool FollowedTruth::HasFactor(JobIndex job) const {
  return factor_ && scenario_.workload().jobs[At(job)].model >= 0;
}

const ConfigurationTable* FollowedTruth::TableOf(JobIndex job) {
  const Scenario::JobFacts& facts = scenario_.facts(job);
  if (facts.process() == nullptr) {
    if (!HasFactor(job)) return facts.table.get();
    std::unique_ptr<ConfigurationTable>& table = shared_[facts.table.get()];
    if (table == nullptr) {
      double until = 0;
      table = std::make_unique<ConfigurationTable>(facts.table->WithRates(RatesAt(job, 0, &until)));
    }
    return table.get();
  }
  Own& own = own_[job];
  if (own.table == nullptr) {
    own.table =
        std::make_unique<ConfigurationTable>(facts.table->WithRates(RatesAt(job, 0, &own.until)));
  }
  return own.table.get();
}

bool FollowedTruth::Take(const RateMeasurement& measured) {
  const auto found = own_.find(measured.job);
  if (found == own_.end()) return false;
  const Own& own = found->second;
  if (own.from <= measured.done && measured.done < own.until) return false;
  return RenewAt(measured.job, measured.done);
}

bool FollowedTruth::RenewAt(JobIndex job, double done) {
  const auto found = own_.find(job);
  if (found == own_.end()) return false;
  Own& own = found->second;
  own.from = done;
  const std::vector<double> rates = RatesAt(job, done, &own.until);
  const auto& configurations = own.table->configurations();
  if (std::equal(rates.begin(), rates.end(), configurations.begin(),
                 [](double rate, const Configuration& c) { return rate == c.rate; })) {
    return false;
  }
  own.table->Renew(rates);
  return true;
}

std::vector<double> FollowedTruth::RatesAt(JobIndex job, double done, double* until) const {
  const Scenario::JobFacts& facts = scenario_.facts(job);
  const bool has_factor = HasFactor(job);
  *until = kNever;
  std::vector<double> rates;
  rates.reserve(At(facts.table->size()));
  for (std::int32_t c = 0; c < facts.table->size(); ++c) {
    const JobProcess::Segment segment = SegmentOf(facts.process(), {*facts.table, c, {}}, done);
    *until = std::min(*until, segment.until);
    rates.push_back(has_factor ? segment.rate * factor_(*facts.table, c) : segment.rate);
  }
  return rates;
}

}  // namespace allot
