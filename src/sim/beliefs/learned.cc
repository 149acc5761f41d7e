// A prior of speeds, learned from what the jobs of the run measured until now; what a job measures
// itself takes over. Nothing of the truth is read but what was measured.
//
// Jobs that train applications: sim/goodput_belief.h. Jobs with a profile, as in the belief
// 'measured', with the same prior and unit before anybody ran: jobs of a model learn from each
// other at once, also those that wait; the job's own measurements correct what it believes of its
// model (perf/rate_fit.h); and where neither was measured, rates are corrected by how far off they
// were where others first went there, and have a spread (perf/speed_prior.h).

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/index.h"
#include "perf/rate_book.h"
#include "perf/speed_prior.h"
#include "sim/followed_truth.h"
#include "sim/goodput_belief.h"
#include "sim/speed_levels.h"
#include "sim/unit_of_prior.h"

namespace allot {
namespace {

class LearnedRates : public FollowedTruth {
 public:
  explicit LearnedRates(const Scenario& scenario)
      : FollowedTruth(scenario, nullptr), scenario_(scenario) {}

  // Else its work is seconds.
  bool Learns(JobIndex job) const { return scenario_.workload().jobs[At(job)].model >= 0; }

  const ConfigurationTable* TableOf(JobIndex job) override {
    if (!Learns(job)) return FollowedTruth::TableOf(job);
    const auto found = jobs_.find(job);
    Believed& believed =
        found != jobs_.end()
            ? found->second
            : jobs_
                  .emplace(job, Believed{SpeedLevelsOf(scenario_, job), RateFit(MakePriorModel()),
                                         *scenario_.facts(job).table})
                  .first->second;
    if (believed.stale) Renew(job, &believed);
    return &believed.table;
  }

  void Forget(JobIndex job) override {
    jobs_.erase(job);
    FollowedTruth::Forget(job);
  }

  bool Take(const RateMeasurement& measured) override {
    const auto known = jobs_.find(measured.job);
    if (known == jobs_.end()) return FollowedTruth::Take(measured);
    Believed& believed = known->second;
    const Configuration& held = believed.table[measured.configuration];
    const GpuCount gpus = held.demand.gpus;
    const std::string& type = TypeOf(held);
    OfModel& model = models_.try_emplace(believed.levels.back()).first->second;
    const Gap gap = GapTo(measured.job, model.fit, held);
    if (gap.doublings > 0) {
      const double predicted =
          UnitOfPrior(scenario_, measured.job, model.fit) * model.fit.Rate(gpus, type, held.span);
      prior_.Observe(believed.levels, gap.step, gpus, gap.doublings,
                     std::log(measured.rate / predicted));
    }
    model.fit.Measure(gpus, type, measured.rate, measured.seconds, held.span);
    if (model.fit.Moved(RateBook::kTableMoves)) {
      model.fit.MarkUsed();
      ++model.version;
      others_learned_ = true;
    }
    believed.fit.Measure(gpus, type, measured.rate, measured.seconds, held.span);
    if (believed.fit.Moved(RateBook::kTableMoves)) {
      believed.fit.MarkUsed();
      believed.stale = true;
    }
    believed.stale = believed.stale || believed.used != model.version;
    return believed.stale;
  }

  void TakeAlsoRenewed(std::vector<JobIndex>* jobs) override {
    if (!others_learned_) return;
    others_learned_ = false;
    for (auto& [job, believed] : jobs_) {
      const auto model = models_.find(believed.levels.back());
      if (model == models_.end() || believed.used == model->second.version) continue;
      believed.stale = true;
      jobs->push_back(job);
    }
  }

  Seconds measured_after() const override { return RateBook::kShortestStretch; }
  bool measures_starts() const override { return true; }

 private:
  struct Believed {
    std::vector<std::string> levels;
    RateFit fit;  // what it measured, on its model's fit
    ConfigurationTable table;
    bool stale = true;
    std::uint64_t used = 0;  // version of the model's fit
  };
  struct OfModel {
    RateFit fit{MakePriorModel()};
    std::uint64_t version = 0;
  };
  struct Gap {
    SpeedStep step = SpeedStep::kMore;
    double doublings = 0;  // 0: it was measured
  };

  const std::string& TypeOf(const Configuration& c) const {
    return scenario_.cluster().types()[At(c.gpu_type)];
  }
  const Configuration& Requested(JobIndex job) const {
    const Scenario::JobFacts& facts = scenario_.facts(job);
    return (*facts.table)[facts.requested];
  }
  Gap GapTo(JobIndex job, const RateFit& fit, const Configuration& to) const {
    const GpuCount gpus = to.demand.gpus;
    GpuCount nearest = fit.Nearest(gpus, TypeOf(to), to.span);
    if (nearest == 0) nearest = Requested(job).demand.gpus;
    if (nearest == gpus) return {};
    return {nearest < gpus ? SpeedStep::kMore : SpeedStep::kFewer,
            SpeedPrior::Doublings(nearest, gpus)};
  }

  void Renew(JobIndex job, Believed* believed) {
    const OfModel& model = models_.try_emplace(believed->levels.back()).first->second;
    believed->stale = false;
    believed->used = model.version;
    believed->fit.Rebase(model.fit.Model());
    const double unit = UnitOfPrior(scenario_, job, model.fit);
    rates_.clear();
    spreads_.clear();
    for (const Configuration& c : scenario_.facts(job).table->configurations()) {
      const Gap gap = GapTo(job, model.fit, c);
      const SpeedError error =
          gap.doublings > 0 ? prior_.Of(believed->levels, gap.step, gap.doublings) : SpeedError{};
      rates_.push_back(unit * believed->fit.Rate(c.demand.gpus, TypeOf(c), c.span) *
                       std::exp(error.mean));
      spreads_.push_back(static_cast<float>(error.spread));
    }
    believed->table.Renew(rates_, ConfigurationTable::kNoLimits, spreads_);
  }

  const Scenario& scenario_;
  SpeedPrior prior_;
  std::map<std::string, OfModel> models_;
  std::map<JobIndex, Believed> jobs_;
  bool others_learned_ = false;  // since TakeAlsoRenewed
  std::vector<double> rates_;
  std::vector<float> spreads_;
};

// Each job by its kind.
class LearnedBelief : public Belief {
 public:
  LearnedBelief(const Scenario& scenario, const GoodputBeliefOptions& options)
      : scenario_(scenario), rates_(scenario) {
    for (JobIndex job = 0; At(job) < scenario.workload().jobs.size(); ++job) {
      if (!Trains(job)) {
        learns_rates_ = learns_rates_ || rates_.Learns(job);
      } else if (training_ == nullptr) {
        training_ = MakeGoodputBelief(scenario, options);
      }
    }
  }

  TrainingBelief* training() override {
    return training_ == nullptr ? nullptr : training_->training();
  }
  const ConfigurationTable* TableOf(JobIndex job) override { return Of(job).TableOf(job); }
  void Forget(JobIndex job) override { Of(job).Forget(job); }
  void LeaveOutUntrusted() override {
    if (training_ != nullptr) training_->LeaveOutUntrusted();
  }
  bool Take(const RateMeasurement& measured) override {
    // What is played in steps is measured in the training itself.
    if (Trains(measured.job) && scenario_.options().training.stepped) return false;
    return Of(measured.job).Take(measured);
  }
  void TakeAlsoRenewed(std::vector<JobIndex>* jobs) override {
    rates_.TakeAlsoRenewed(jobs);
    if (training_ != nullptr) training_->TakeAlsoRenewed(jobs);
    std::sort(jobs->begin(), jobs->end());
  }
  Seconds measured_after() const override {
    return learns_rates_ || training_ == nullptr ? rates_.measured_after()
                                                 : training_->measured_after();
  }
  bool measures_starts() const override {
    return learns_rates_ || (training_ != nullptr && training_->measures_starts());
  }

 private:
  bool Trains(JobIndex job) const { return scenario_.facts(job).application() != nullptr; }
  Belief& Of(JobIndex job) {
    if (Trains(job)) return *training_;
    return rates_;
  }

  const Scenario& scenario_;
  LearnedRates rates_;
  std::unique_ptr<Belief> training_;  // null: no job trains an application
  bool learns_rates_ = false;
};

ALLOT_REGISTER(
    BeliefInfo,
    (BeliefInfo{
        "learned",
        "a prior of speeds learned from what earlier jobs measured, then as measured/online",
        {{"growth", "2",
          "of applications: times as many GPUs as jobs of the model ran on are trusted; 0: "
          "any number",
          0, 1000},
         {"trust", "1",
          "of applications: any number is trusted whose rate's logarithm has at most this "
          "standard deviation",
          0, 10},
         {"any-batch", "false",
          "rates are computed with all batches of an application, as with 'online'"}},
        [](const Params& params, const Scenario& scenario) -> std::unique_ptr<Belief> {
          for (JobIndex job = 0; At(job) < scenario.workload().jobs.size(); ++job) {
            const std::size_t kinds = scenario.facts(job).table->kinds().size();
            if (kinds == 1) continue;
            throw UsageError(
                "belief 'learned' is of jobs made of one kind of unit, as on live "
                "clusters; job '{}' with profile '{}' is made of {}",
                scenario.workload().jobs[At(job)].id, scenario.facts(job).table->name(), kinds);
          }
          const bool users = scenario.options().training.users_batch && !params.Flag("any-batch");
          return std::make_unique<LearnedBelief>(
              scenario, GoodputBeliefOptions{TimingRegime::kLearned, params.Number("growth"),
                                             params.Number("trust"), users});
        }}));

}  // namespace
}  // namespace allot
