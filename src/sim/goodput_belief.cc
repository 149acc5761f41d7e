#include "sim/goodput_belief.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "perf/goodput_rates.h"
#include "perf/timing_book.h"
#include "perf/timing_fits.h"
#include "sim/followed_truth.h"
#include "sim/speed_levels.h"
#include "sim/training_belief.h"

namespace allot {
namespace {

class GoodputBelief : public FollowedTruth, public TrainingBelief {
 public:
  GoodputBelief(const Scenario& scenario, const GoodputBeliefOptions& options)
      : FollowedTruth(scenario, nullptr),
        scenario_(scenario),
        specs_(scenario.cluster().type_specs()),
        regime_(options.regime),
        growth_(options.growth),
        trust_(options.trust),
        users_batch_(options.users_batch) {}

  TrainingBelief* training() override { return this; }

  const ConfigurationTable* TableOf(JobIndex job) override {
    if (!Fits(job)) return FollowedTruth::TableOf(job);
    Believed& believed = Of(job);
    if (believed.stale) Renew(job, &believed);
    return believed.table.get();
  }
  void LeaveOutUntrusted() override { leaves_out_ = true; }

  void Forget(JobIndex job) override {
    jobs_.erase(job);
    most_gpus_.erase(job);
    FollowedTruth::Forget(job);
  }

  void TakeAlsoRenewed(std::vector<JobIndex>* jobs) override {
    if (!others_learned_) return;
    others_learned_ = false;
    for (auto& [job, believed] : jobs_) {
      if (believed.table == nullptr || believed.used == believed.fits->version()) continue;
      believed.stale = true;
      jobs->push_back(job);
    }
  }

  // Where training is not played in steps: what it would measure with its best batch.
  bool Take(const RateMeasurement& measured) override {
    if (!jobs_.contains(measured.job)) return FollowedTruth::Take(measured);
    const Configuration& c = (*scenario_.facts(measured.job).table)[measured.configuration];
    const ApplicationModel& model = *ApplicationOf(measured.job);
    const Application& application = *model.application();
    const GpuTypeSpec& type = specs_[At(c.gpu_type)];
    const std::vector<UnitCounts> nodes = FewestNodes(c.units.of(0), type.node_gpus, c.span);
    const std::int32_t epoch =
        std::min(application.EpochAt(measured.done), application.epochs() - 1);
    TrainingMeasurement training;
    training.place = {type.name, static_cast<std::int32_t>(nodes.size()), c.units.of(0)};
    training.epoch = epoch;
    training.batch = model.Choose({type.name, nodes, {}}, epoch);
    const ApplicationOnType* on = application.On(type.name);
    if (on == nullptr || !(training.batch.rate > 0)) return false;
    const StepTime time =
        on->times.TimeAt(nodes, static_cast<std::int32_t>(training.batch.local_batch));
    training.gradient = time.gradient();
    training.step = time.step;
    training.statistics =
        application.StatisticsIn(epoch, training.batch.total(training.place.gpus));
    return Measure(measured.job, training);
  }
  // Measured in the training itself, where that is played in steps.
  Seconds measured_after() const override {
    return scenario_.options().training.stepped ? kNever : FollowedTruth::measured_after();
  }
  bool measures_starts() const override { return !scenario_.options().training.stepped; }

  bool Measure(JobIndex job, const TrainingMeasurement& measured) override {
    if (!Fits(job)) {
      const Application& application = *ApplicationOf(job)->application();
      return RenewAt(job, measured.epoch > 0 ? application.ProgressUntil(measured.epoch - 1) : 0);
    }
    Believed& believed = Of(job);
    if (regime_ == TimingRegime::kKnown) {
      most_gpus_[job] = std::max(most_gpus_[job], measured.place.gpus);
    } else {
      Observe(job, measured.place,
              {measured.place.nodes > 1, measured.place.gpus,
               static_cast<double>(measured.batch.local_batch), measured.gradient, measured.step},
              &believed);
    }
    const bool same =
        believed.measured && believed.statistics.square == measured.statistics.square &&
        believed.statistics.variance == measured.statistics.variance && !believed.stale &&
        believed.used == believed.fits->version() && believed.grown == GrownOf(job, believed);
    if (same) return false;
    believed.statistics = measured.statistics;
    believed.measured = true;
    // A job measures itself several times in an interval; its table is asked for at the end.
    believed.stale = true;
    return true;
  }

  BatchChoice Choose(JobIndex job, const TrainingPlace& place) override {
    const ApplicationModel& model = *ApplicationOf(job);
    const ApplicationOnType& on = *model.application()->On(place.gpu_type);
    Believed& believed = Of(job);
    AssumeStart(*model.application(), &believed);
    const StepTiming* timing = believed.fits->On(place.gpu_type);
    if (model.fixed_batch() > 0 || timing == nullptr || !believed.measured) {
      const double batch = model.fixed_batch() > 0
                               ? model.fixed_batch()
                               : std::max(on.limits.initial, on.limits.least_local * place.gpus);
      return SplitFixedBatch(on.limits, place.gpus, batch);
    }
    Believed::Here& here = believed.here;
    if (here.type != &on || here.nodes != place.nodes || here.gpus != place.gpus ||
        here.version != believed.fits->version()) {
      // No more samples on a GPU than it was measured with.
      BatchLimits limits = on.limits;
      const std::int32_t largest = on.times.LargestBatch({nullptr, place.nodes, place.gpus});
      if (largest > 0) limits.most_local = std::min<double>(limits.most_local, largest);
      here = {&on, place.nodes, place.gpus, believed.fits->version(),
              TimedBatches(*timing, limits, place.nodes > 1, place.gpus)};
    }
    BatchChoice choice = here.batches.Best(believed.statistics);
    // Rounded up on each GPU, it may be above the most.
    const double room = on.limits.most / (double{1} * place.gpus * (choice.accumulation + 1));
    choice.local_batch = std::min(choice.local_batch, static_cast<std::int64_t>(room));
    return choice;
  }

 private:
  struct Believed {
    std::unique_ptr<ConfigurationTable> table;  // null until it is asked for
    std::shared_ptr<TimingFits> fits;
    GoodputRates rates;
    GradientStatistics statistics{};
    bool measured = false;
    bool stale = true;       // the table does not say so yet
    std::uint64_t used = 0;  // version of the fits that the rates are of
    GpuCount grown = 0;      // trusted as it grew
    GpuCount trusted = 0;
    TimingBook::Entry learned{};   // of the regime of this name
    std::vector<float> spreads{};  // by configuration
    // The batches that it may have where it is.
    struct Here {
      const ApplicationOnType* type = nullptr;
      std::int32_t nodes = 0;
      GpuCount gpus = 0;
      std::uint64_t version = 0;  // of the fits
      TimedBatches batches;
    };
    Here here{};
  };

  const ApplicationModel* ApplicationOf(JobIndex job) const {
    return scenario_.facts(job).application();
  }
  // Pipelines have no batch to choose: they know their times.
  bool Fits(JobIndex job) const {
    const ApplicationModel* model = ApplicationOf(job);
    if (model == nullptr) return false;
    const auto& types = model->application()->types();
    return std::none_of(types.begin(), types.end(),
                        [](const ApplicationOnType& type) { return type.stages > 1; });
  }
  const std::string& TypeName(GpuTypeIndex type) const {
    return scenario_.cluster().types()[At(type)];
  }

  Believed& Of(JobIndex job) {
    const auto found = jobs_.find(job);
    if (found != jobs_.end()) return found->second;
    const Scenario::JobFacts& facts = scenario_.facts(job);
    Believed believed{nullptr, FitsFor(job), GoodputRates(CandidatesFor(job))};
    if (regime_ == TimingRegime::kLearned) {
      believed.learned = book_.Begin(ModelName(job), LevelsOf(job));
      believed.fits = believed.learned.fits;
    }
    Believed& at = jobs_.emplace(job, std::move(believed)).first->second;
    AssumeStart(*facts.application()->application(), &at);
    return at;
  }

  // What the gradients are at its first epoch is measured as soon as it runs.
  void AssumeStart(const Application& application, Believed* believed) const {
    if (believed->measured || regime_ == TimingRegime::kOnline || believed->fits->empty()) return;
    believed->statistics = application.StatisticsIn(0, application.initial_batch());
    believed->measured = true;
  }

  std::shared_ptr<TimingFits> FitsFor(JobIndex job) {
    if (regime_ == TimingRegime::kLearned) return nullptr;  // the book has it
    if (regime_ == TimingRegime::kOnline) return std::make_shared<TimingFits>();
    const ApplicationModel* model = ApplicationOf(job);
    std::shared_ptr<TimingFits>& fits = shared_[model->application().get()];
    if (fits == nullptr) {
      fits = std::make_shared<TimingFits>();
      if (regime_ == TimingRegime::kKnown) FitMeasured(*model->application(), specs_, fits.get());
    }
    return fits;
  }

  const std::string& ModelName(JobIndex job) const {
    const Workload& workload = scenario_.workload();
    return workload.models[workload.jobs[At(job)].model];
  }
  std::vector<std::string> LevelsOf(JobIndex job) const { return SpeedLevelsOf(scenario_, job); }

  void Observe(JobIndex job, const TrainingPlace& place, const TimingObservation& seen,
               Believed* believed) {
    if (regime_ != TimingRegime::kLearned) {
      believed->fits->Observe(place.gpu_type, place.nodes, seen);
      return;
    }
    TimingBook::Entry& entry = believed->learned;
    book_.Observe(ModelName(job), place.gpu_type, place.nodes, seen, &entry);
    others_learned_ = true;
    if (believed->fits == entry.fits) return;
    believed->fits = entry.fits;
    believed->stale = true;
    believed->used = 0;
  }

  // The errors that fits may have where nothing was measured. Optimistic predictions stay, because
  // a job that is believed to be slower on more GPUs would never try them.
  void LearnSpreads(JobIndex job, Believed* believed) const {
    const ConfigurationTable& truth = *scenario_.facts(job).table;
    believed->spreads.resize(At(truth.size()));
    for (std::int32_t c = 0; c < truth.size(); ++c) {
      const Configuration& to = truth[c];
      const GpuTypeSpec& type = specs_[At(to.gpu_type)];
      const bool several = FewestNodes(to.units.of(0), type.node_gpus, to.span).size() > 1;
      const SpeedError error = book_.ErrorAt(believed->learned, type.name, several, to.demand.gpus);
      believed->spreads[At(c)] = static_cast<float>(error.spread);
      if (error.spread <= trust_) believed->trusted = std::max(believed->trusted, to.demand.gpus);
    }
  }

  // The largest batch for its believed rates; 0: its application's.
  double MostOf(JobIndex job) const {
    return users_batch_ ? scenario_.workload().jobs[At(job)].batch : 0;
  }
  // On a type where its application was measured.
  BatchLimits LimitsOf(JobIndex job, GpuTypeIndex type) const {
    BatchLimits limits = ApplicationOf(job)->application()->On(TypeName(type))->limits;
    if (MostOf(job) > 0) limits.most = std::min(limits.most, MostOf(job));
    return limits;
  }

  std::shared_ptr<const GoodputCandidates> CandidatesFor(JobIndex job) {
    const Scenario::JobFacts& facts = scenario_.facts(job);
    auto& made = candidates_[{facts.table.get(), facts.application()->fixed_batch(), MostOf(job)}];
    if (made == nullptr) {
      BatchLimits limits;
      made = MakeGoodputCandidates(
          *facts.table,
          [&](GpuTypeIndex type) -> const BatchLimits* {
            if (facts.application()->application()->On(TypeName(type)) == nullptr) return nullptr;
            limits = LimitsOf(job, type);
            return &limits;
          },
          facts.application()->fixed_batch());
    }
    return made;
  }

  // The type's configuration of fewest units, the faster of equal ones; -1: none.
  static std::int32_t Smallest(const ConfigurationTable& table, GpuTypeIndex type) {
    std::int32_t smallest = -1;
    for (std::int32_t c = 0; c < table.size(); ++c) {
      if (table[c].gpu_type != type || !(table[c].rate > 0) || table[c].partner != kNoPartner) {
        continue;
      }
      if (smallest < 0 || table[c].cost < table[smallest].cost ||
          (table[c].cost == table[smallest].cost && table[c].rate > table[smallest].rate)) {
        smallest = c;
      }
    }
    return smallest;
  }

  GpuCount GrownOf(JobIndex job, const Believed& believed) const {
    if (growth_ <= 0) return kMaxGpusPerJob;
    const auto known = most_gpus_.find(job);
    const GpuCount most = regime_ == TimingRegime::kKnown
                              ? (known == most_gpus_.end() ? 0 : known->second)
                              : believed.fits->most_gpus();
    const ConfigurationTable& truth = *scenario_.facts(job).table;
    GpuCount least = kMaxGpusPerJob;
    for (const GpuTypeIndex type : truth.types()) {
      least = std::min(least, truth[Smallest(truth, type)].demand.gpus);
    }
    const auto grown = static_cast<GpuCount>(std::min<double>(growth_ * most, kMaxGpusPerJob));
    return std::max(least, grown);
  }

  void Renew(JobIndex job, Believed* believed) {
    const ConfigurationTable& truth = *scenario_.facts(job).table;
    if (believed->table == nullptr) believed->table = std::make_unique<ConfigurationTable>(truth);
    const TimingFits& fits = *believed->fits;
    believed->stale = false;
    AssumeStart(*ApplicationOf(job)->application(), believed);
    believed->grown = GrownOf(job, *believed);
    believed->trusted = believed->grown;
    if (regime_ == TimingRegime::kLearned) LearnSpreads(job, believed);
    if (believed->measured && !fits.empty()) {
      if (believed->used != fits.version()) {
        believed->rates.SetTimings([&](GpuTypeIndex type) { return fits.On(TypeName(type)); });
      }
      believed->used = fits.version();
      believed->rates.RatesAt(believed->statistics, &rates_,
                              leaves_out_ ? believed->trusted : kMaxGpusPerJob);
      Project(job, *believed);
    }
    const UnitCounts trusted(believed->trusted);
    if (believed->used == 0 || !Progresses(truth, trusted)) ScalePerfectly(truth);
    believed->table->Renew(rates_, trusted, believed->spreads);
  }
  bool Progresses(const ConfigurationTable& table, const UnitCounts& trusted) const {
    bool any = false;
    for (std::int32_t c = 0; c < table.size() && !any; ++c) {
      any = rates_[At(c)] > 0 && table[c].partner == kNoPartner && table.Allocatable(c) &&
            table[c].units.FitsIn(trusted);
    }
    return any;
  }
  void ScalePerfectly(const ConfigurationTable& truth) {
    rates_.assign(At(truth.size()), 0);
    for (std::int32_t c = 0; c < truth.size(); ++c) {
      const std::int32_t smallest = Smallest(truth, truth[c].gpu_type);
      if (smallest < 0 || !(truth[c].rate > 0)) continue;
      rates_[At(c)] = truth[smallest].rate * truth[c].cost / truth[smallest].cost;
    }
  }

  // Rates of types without a fit from those of the cluster's first with one.
  void Project(JobIndex job, const Believed& believed) {
    const ConfigurationTable& truth = *scenario_.facts(job).table;
    const TimingFits& fits = *believed.fits;
    GpuTypeIndex from = 0;
    const auto types = static_cast<GpuTypeIndex>(specs_.size());
    while (from < types && fits.On(TypeName(from)) == nullptr) ++from;
    if (from == types) return;
    for (std::int32_t c = 0; c < truth.size(); ++c) {
      const Configuration& to = truth[c];
      if (fits.On(TypeName(to.gpu_type)) != nullptr || !(to.rate > 0)) continue;
      const GpuCount node_gpus = specs_[At(from)].node_gpus;
      const auto nodes = static_cast<std::size_t>((to.demand.gpus + node_gpus - 1) / node_gpus);
      const std::int32_t same = truth.Find(to.units, from, nodes);
      const double rate =
          same >= 0 ? rates_[At(same)] : RateOn(job, from, believed, nodes > 1, to.demand.gpus);
      rates_[At(c)] = rate * FasterBy(job, from, to.gpu_type);
    }
  }
  // More GPUs than the type has, so that the table does not say.
  double RateOn(JobIndex job, GpuTypeIndex type, const Believed& believed, bool several,
                GpuCount gpus) const {
    const StepTiming& timing = *believed.fits->On(TypeName(type));
    const BatchLimits limits = LimitsOf(job, type);
    const std::vector<StatisticsPoint> points = {{limits.initial, believed.statistics}};
    const double fixed = ApplicationOf(job)->fixed_batch();
    return fixed > 0 ? FixedBatch(timing, limits, points, several, gpus, fixed).rate
                     : ChooseBatch(timing, limits, points, several, gpus).rate;
  }
  // One GPU of a type against one of another: samples per second with the largest batches that were
  // measured; where that was not, the true rates of the smallest configurations.
  double FasterBy(JobIndex job, GpuTypeIndex from, GpuTypeIndex to) const {
    const Application& application = *ApplicationOf(job)->application();
    const auto samples = [&](GpuTypeIndex type) {
      const ApplicationOnType* on = application.On(TypeName(type));
      return on == nullptr ? 0 : on->times.MostSamples();
    };
    const double before = samples(from);
    const double after = samples(to);
    if (before > 0 && after > 0) return after / before;
    const ConfigurationTable& truth = *scenario_.facts(job).table;
    const std::int32_t smallest = Smallest(truth, to);
    const std::int32_t smallest_from = Smallest(truth, from);
    if (smallest < 0 || smallest_from < 0) return 0;
    return truth[smallest].rate / truth[smallest_from].rate;
  }

  const Scenario& scenario_;
  std::vector<GpuTypeSpec> specs_;
  TimingRegime regime_;
  double growth_;
  double trust_;
  bool users_batch_;
  bool leaves_out_ = false;  // rates that are not trusted
  std::map<JobIndex, Believed> jobs_;
  std::map<JobIndex, GpuCount> most_gpus_;  // where fits do not say
  TimingBook book_;                         // of the regime 'learned'
  bool others_learned_ = false;             // since TakeAlsoRenewed
  std::map<const Application*, std::shared_ptr<TimingFits>> shared_;
  std::map<std::tuple<const ConfigurationTable*, double, double>,
           std::shared_ptr<const GoodputCandidates>>
      candidates_;
  std::vector<double> rates_;
};

}  // namespace

std::unique_ptr<Belief> MakeGoodputBelief(const Scenario& scenario,
                                          const GoodputBeliefOptions& options) {
  return std::make_unique<GoodputBelief>(scenario, options);
}

BeliefInfo GoodputBeliefInfo(const char* id, const char* summary, TimingRegime regime,
                             const char* growth) {
  return {
      id,
      summary,
      {{"growth", growth, "times as many GPUs as it ran on are trusted, at most; 0: any number", 0,
        1000},
       {"any-batch", "false",
        "rates are computed with all batches of an application, also where the rules say: up to "
        "what the job's user asked for"}},
      [regime](const Params& params, const Scenario& scenario) -> std::unique_ptr<Belief> {
        const bool users = scenario.options().training.users_batch && !params.Flag("any-batch");
        return MakeGoodputBelief(
            scenario, {.regime = regime, .growth = params.Number("growth"), .users_batch = users});
      }};
}

}  // namespace allot
