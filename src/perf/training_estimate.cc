#include "perf/training_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/index.h"
#include "perf/goodput_rates.h"

namespace allot {
namespace {

class SpannedModel final : public ThroughputModel {
 public:
  explicit SpannedModel(ModelPtr profile) : profile_(std::move(profile)) {}
  const std::string& name() const override { return profile_->name(); }
  const std::vector<UnitKind>& kinds() const override { return profile_->kinds(); }
  double Rate(const RunShape& shape, const TrainingState& state) const override {
    const double rate = profile_->Rate(shape, state);
    if (rate > 0) return rate;
    const UnitCounts units = shape.units();
    return profile_->Rate({shape.gpu_type, {&units, 1}, shape.partner}, state);
  }
  std::vector<Span> SpansOn(std::string_view) const override { return {{1, 1}, {2, Span::kAny}}; }
  std::vector<std::string> gpu_types() const override { return profile_->gpu_types(); }

 private:
  ModelPtr profile_;
};

// The type's configuration of fewest GPUs.
std::int32_t SmallestOn(const ConfigurationTable& table, GpuTypeIndex type) {
  std::int32_t smallest = -1;
  for (std::int32_t c = 0; c < table.size(); ++c) {
    if (table[c].gpu_type != type) continue;
    if (smallest < 0 || table[c].demand.gpus < table[smallest].demand.gpus) smallest = c;
  }
  return smallest;
}

}  // namespace

ModelPtr LayoutModel(ModelPtr profile) {
  return std::make_shared<SpannedModel>(std::move(profile));
}

bool TrainingEstimate::Knows(std::string_view gpu_type, std::int32_t nodes, GpuCount gpus,
                             double local_batch) const {
  const Place place{std::string(gpu_type), nodes, gpus, local_batch};
  return std::find(places_.begin(), places_.end(), place) != places_.end();
}

bool TrainingEstimate::Observe(std::string_view gpu_type, std::int32_t nodes,
                               const TimingObservation& observation) {
  const GpuCount before = fits_.most_gpus();
  const bool fitted = fits_.Observe(gpu_type, nodes, observation);
  if (!Knows(gpu_type, nodes, observation.gpus, observation.local_batch)) {
    places_.push_back({std::string(gpu_type), nodes, observation.gpus, observation.local_batch});
  }
  return fitted || fits_.most_gpus() > before;
}

bool TrainingEstimate::NoiseMoved(double noise) const {
  if (!(noise >= 0)) return false;
  return !(std::abs(noise - noise_) <= kNoiseMoves * noise_);  // also where none is known
}

UnitCounts TrainingEstimate::Trusted(const ConfigurationTable& table) const {
  GpuCount least = kMaxGpusPerJob;
  for (const Configuration& c : table.configurations()) least = std::min(least, c.demand.gpus);
  const double grown = kGrowth * fits_.most_gpus();
  const double room = std::floor(limits_.most / limits_.least_local);
  const auto most = static_cast<GpuCount>(std::min({grown, room, double{kMaxGpusPerJob}}));
  return UnitCounts(std::max(least, most));
}

void TrainingEstimate::Project(const std::vector<std::string>& gpu_types,
                               const ConfigurationTable& table, std::vector<double>* rates) const {
  const auto first = std::find(gpu_types.begin(), gpu_types.end(), fits_.first_type());
  const auto from = static_cast<GpuTypeIndex>(first - gpu_types.begin());
  const std::int32_t smallest_from = first == gpu_types.end() ? -1 : SmallestOn(table, from);
  if (smallest_from < 0) return;
  for (std::int32_t c = 0; c < table.size(); ++c) {
    const Configuration& to = table[c];
    if (fits_.On(gpu_types[At(to.gpu_type)]) != nullptr) continue;
    const std::int32_t same = table.Find({to.units, from, to.span, kNoPartner});
    const std::int32_t other = same >= 0 ? same : table.Find(to.units, from);
    if (other >= 0) {
      const Configuration& smallest = table[SmallestOn(table, to.gpu_type)];
      (*rates)[At(c)] = (*rates)[At(other)] * smallest.rate / table[smallest_from].rate;
    } else {
      (*rates)[At(c)] = (*rates)[At(smallest_from)] * to.rate / table[smallest_from].rate;
    }
  }
}

bool TrainingEstimate::Renew(const std::vector<std::string>& gpu_types,
                             ConfigurationTable* table) const {
  if (!known()) return false;
  GoodputRates goodput(MakeGoodputCandidates(
      *table, [this](GpuTypeIndex) { return &limits_; }, 0));
  goodput.SetTimings([&](GpuTypeIndex type) { return fits_.On(gpu_types[At(type)]); });
  std::vector<double> rates;
  goodput.RatesAt(statistics(), &rates);
  for (double& rate : rates) rate *= limits_.initial;
  Project(gpu_types, *table, &rates);
  const UnitCounts trusted = Trusted(*table);
  bool any = false;
  for (std::int32_t c = 0; c < table->size(); ++c) {
    if (!std::isfinite(rates[At(c)])) return false;
    any = any || (rates[At(c)] > 0 && table->Allocatable(c) && (*table)[c].units.FitsIn(trusted));
  }
  if (any) table->Renew(rates, trusted);
  return any;
}

// local_batch 0: several were measured on this type, or there is no room for twice the only one.
BatchChoice TrainingEstimate::Trial(std::string_view gpu_type, GpuCount gpus) const {
  double only = 0;
  for (const Place& place : places_) {
    if (place.gpu_type != gpu_type) continue;
    if (only > 0 && place.local_batch != only) return {};
    only = place.local_batch;
  }
  const double twice = 2 * only;
  if (only == 0 || twice > limits_.most_local) return {};
  // On fewer GPUs than it was measured on it may take several passes to the least batch.
  const double passes = std::max(1.0, std::ceil(limits_.initial / (twice * gpus)));
  const BatchChoice trial{static_cast<std::int64_t>(twice), static_cast<int>(passes) - 1, 0};
  return trial.total(gpus) <= limits_.most ? trial : BatchChoice{};
}

BatchChoice TrainingEstimate::Choose(std::string_view gpu_type, std::int32_t nodes, GpuCount gpus,
                                     const BatchChoice& present) const {
  const StepTiming* timing = known() ? fits_.On(gpu_type) : nullptr;
  if (timing == nullptr) return {};
  const BatchChoice trial = Trial(gpu_type, gpus);
  if (trial.local_batch > 0) return trial;
  const bool several = nodes > 1;
  BatchChoice best =
      ChooseBatch(*timing, limits_, {{limits_.initial, statistics()}}, several, gpus);
  // Rounded up on each GPU, it may be above the most.
  const double room = limits_.most / (double{1} * gpus * (best.accumulation + 1));
  best.local_batch = std::min(best.local_batch, static_cast<std::int64_t>(std::max(room, 1.0)));
  if (best.total(gpus) < limits_.initial) return present;  // no equal parts lie between the two
  if (present.local_batch > 0) {
    const double now = statistics().Gain(present.total(gpus) / limits_.initial) /
                       timing->Iteration(several, gpus, static_cast<double>(present.local_batch),
                                         present.accumulation);
    if (best.rate <= (1 + kWorth) * now) return present;
  }
  return best;
}

}  // namespace allot
