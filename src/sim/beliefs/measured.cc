// What a live daemon has: a prior before a model has run, then the speeds that were measured while
// jobs ran undisturbed, fitted by the daemon's own code (perf/rate_book.h). The daemon is taken to
// have no profile of any model: all begin with n^0.8.
//
// Units: a fit's first measurement fixes the unit of its prior. Until then the only unit of work is
// the job's own rate as requested; so the prior is scaled to the true rate there, which reveals no
// more than the length estimate does: estimate / rate is the estimated run time as
// requested. From the first measurement of a model on, rates are in the job's unit of work, as
// live.

#include <cmath>
#include <map>

#include "core/error.h"
#include "core/index.h"
#include "perf/rate_book.h"
#include "sim/followed_truth.h"
#include "sim/unit_of_prior.h"

namespace allot {
namespace {

class MeasuredBelief : public FollowedTruth {
 public:
  explicit MeasuredBelief(const Scenario& scenario)
      : FollowedTruth(scenario, nullptr), scenario_(scenario), book_(Catalogue()) {}

  const ConfigurationTable* TableOf(JobIndex job) override {
    if (ModelOf(job) == nullptr) return FollowedTruth::TableOf(job);
    const auto [at, is_new] =
        jobs_.try_emplace(job, Believed{book_.Begin(*ModelOf(job)), *scenario_.facts(job).table});
    if (is_new) Renew(job, &at->second);
    return &at->second.table;
  }

  void Forget(JobIndex job) override {
    jobs_.erase(job);
    FollowedTruth::Forget(job);
  }

  bool Take(const RateMeasurement& measured) override {
    const auto known = jobs_.find(measured.job);
    if (known == jobs_.end()) return FollowedTruth::Take(measured);
    const Configuration& held = known->second.table[measured.configuration];
    if (!book_.Measure(*ModelOf(measured.job), held.demand.gpus, TypeOf(held), held.span,
                       measured.rate, measured.seconds, &known->second.fit)) {
      return false;
    }
    Renew(measured.job, &known->second);
    return true;
  }

  Seconds measured_after() const override { return RateBook::kShortestStretch; }
  bool measures_starts() const override { return true; }

 private:
  struct Believed {
    RateFit fit;
    ConfigurationTable table;
  };

  // Null: it has no profile, its work is seconds.
  const std::string* ModelOf(JobIndex job) const {
    const Workload& workload = scenario_.workload();
    const std::int32_t model = workload.jobs[At(job)].model;
    return model < 0 ? nullptr : &workload.models[model];
  }

  const std::string& TypeOf(const Configuration& c) const {
    return scenario_.cluster().types()[At(c.gpu_type)];
  }

  void Renew(JobIndex job, Believed* believed) const {
    const double unit = UnitOfPrior(scenario_, job, believed->fit);
    std::vector<double> rates;
    for (const Configuration& c : scenario_.facts(job).table->configurations()) {
      rates.push_back(unit * believed->fit.Rate(c.demand.gpus, TypeOf(c), c.span));
    }
    believed->table.Renew(rates);
  }

  const Scenario& scenario_;
  RateBook book_;
  std::map<JobIndex, Believed> jobs_;
};

ALLOT_REGISTER(
    BeliefInfo,
    (BeliefInfo{"measured",
                "as a live daemon: a prior, then speeds fitted to what was measured while jobs ran",
                {},
                [](const Params&, const Scenario& scenario) -> std::unique_ptr<Belief> {
                  for (JobIndex job = 0; At(job) < scenario.workload().jobs.size(); ++job) {
                    const std::size_t kinds = scenario.facts(job).table->kinds().size();
                    if (kinds == 1) continue;
                    throw UsageError(
                        "belief 'measured' is of jobs made of one kind of unit, as on live "
                        "clusters; job '{}' with profile '{}' is made of {}",
                        scenario.workload().jobs[At(job)].id, scenario.facts(job).table->name(),
                        kinds);
                  }
                  return std::make_unique<MeasuredBelief>(scenario);
                }}));

}  // namespace
}  // namespace allot
