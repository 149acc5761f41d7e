#include "perf/timing_fits.h"

#include <algorithm>
#include <cmath>

namespace allot {
namespace {

constexpr std::size_t kFew = 6;       // observations up to which every fit begins anew
constexpr double kBadLoss = 0.1;      // above which a fit that went on is compared with a new one
constexpr double kPredicted = 0.02;   // of both times, relative
constexpr double kAlike = 1.25;       // batches whose times are compared
constexpr std::size_t kPredicts = 3;  // observations from which a fit may predict

bool SameWay(const TimingObservation& a, const TimingObservation& b) {
  return a.several_nodes == b.several_nodes && (a.gpus > 2) == (b.gpus > 2);
}

}  // namespace

bool TimingFits::Observe(std::string_view gpu_type, std::int32_t nodes,
                         const TimingObservation& observation) {
  CheckObservation(observation);
  most_gpus_ = std::max(most_gpus_, observation.gpus);
  OfType* const type = Of(gpu_type);
  for (std::size_t i = 0; i < type->nodes.size(); ++i) {
    const TimingObservation& known = type->observations[i];
    if (type->nodes[i] == nodes && known.gpus == observation.gpus &&
        known.local_batch == observation.local_batch) {
      return false;
    }
  }
  type->nodes.push_back(nodes);
  type->observations.push_back(observation);
  const std::size_t seen = type->observations.size();
  if (seen > kPredicts - 1 && ErrorOf(gpu_type, observation).predicted()) return false;
  Fit(type);
  ++version_;
  return true;
}

void TimingFits::Fit(OfType* type) {
  const std::vector<TimingObservation>& seen = type->observations;
  const auto alike = std::count_if(seen.begin(), seen.end(), [&](const TimingObservation& o) {
    return SameWay(o, seen.back());
  });
  if (seen.size() > kFew && alike > 2) {
    const StepTiming last = type->fit.timing;
    type->fit = FitTiming(seen, &last);
    if (type->fit.loss <= kBadLoss) return;
    const TimingFit cold = FitTiming(seen);
    if (cold.loss < type->fit.loss) type->fit = cold;
    return;
  }
  type->fit = FitTiming(seen);
}

void TimingFits::Adopt(const TimingFits& others, double slower) {
  for (const OfType& from : others.types_) {
    OfType* const to = Of(from.gpu_type);
    const std::size_t own = to->nodes.size();
    for (std::size_t i = 0; i < from.nodes.size(); ++i) {
      TimingObservation seen = from.observations[i];
      bool known = false;
      for (std::size_t j = 0; j < own && !known; ++j) {
        known = to->nodes[j] == from.nodes[i] && to->observations[j].gpus == seen.gpus &&
                to->observations[j].local_batch == seen.local_batch;
      }
      if (known) continue;
      seen.gradient *= slower;
      seen.iteration *= slower;
      most_gpus_ = std::max(most_gpus_, seen.gpus);
      to->nodes.push_back(from.nodes[i]);
      to->observations.push_back(seen);
    }
    to->fit = FitTiming(to->observations);
  }
  ++version_;
}

bool TimingFits::Error::predicted() const {
  return std::abs(iteration) < kPredicted && std::abs(gradient) < kPredicted;
}

TimingFits::Error TimingFits::ErrorOf(std::string_view gpu_type,
                                      const TimingObservation& seen) const {
  const StepTiming* const timing = On(gpu_type);
  if (timing == nullptr) return {kUnknown, kUnknown};
  return {std::log(seen.iteration /
                   timing->Iteration(seen.several_nodes, seen.gpus, seen.local_batch, 0)),
          std::log(seen.gradient / timing->Gradient(seen.local_batch))};
}

double TimingFits::AgainstSeen(std::string_view gpu_type, std::int32_t nodes,
                               const TimingObservation& now) const {
  const OfType* const type = Find(gpu_type);
  if (type == nullptr) return kUnknown;
  const TimingObservation* nearest = nullptr;
  double least = std::log(kAlike);
  for (std::size_t i = 0; i < type->nodes.size(); ++i) {
    const TimingObservation& seen = type->observations[i];
    const double apart = std::abs(std::log(seen.local_batch / now.local_batch));
    if (type->nodes[i] != nodes || seen.gpus != now.gpus || apart > least) continue;
    nearest = &seen;
    least = apart;
  }
  if (nearest == nullptr) return kUnknown;
  return ErrorOf(gpu_type, now).iteration - ErrorOf(gpu_type, *nearest).iteration;
}

GpuCount TimingFits::Nearest(std::string_view gpu_type, bool several_nodes, GpuCount gpus) const {
  const OfType* const type = Find(gpu_type);
  if (type == nullptr) return 0;
  GpuCount nearest = 0;
  double least = 0;
  for (const TimingObservation& seen : type->observations) {
    if (seen.several_nodes != several_nodes) continue;
    const double apart = std::abs(std::log(static_cast<double>(seen.gpus) / gpus));
    if (nearest > 0 && !(apart < least || (apart == least && seen.gpus < nearest))) continue;
    nearest = seen.gpus;
    least = apart;
  }
  return nearest;
}

std::vector<TimingFits::SeenTiming> TimingFits::Seen() const {
  std::vector<SeenTiming> seen;
  for (const OfType& type : types_) {
    for (std::size_t i = 0; i < type.nodes.size(); ++i) {
      seen.push_back({type.gpu_type, type.nodes[i], type.observations[i]});
    }
  }
  return seen;
}

const StepTiming* TimingFits::On(std::string_view gpu_type) const {
  const OfType* const type = Find(gpu_type);
  return type == nullptr ? nullptr : &type->fit.timing;
}

const TimingFits::OfType* TimingFits::Find(std::string_view gpu_type) const {
  for (const OfType& type : types_) {
    if (type.gpu_type == gpu_type) return &type;
  }
  return nullptr;
}

TimingFits::OfType* TimingFits::Of(std::string_view gpu_type) {
  for (OfType& type : types_) {
    if (type.gpu_type == gpu_type) return &type;
  }
  return &types_.emplace_back(OfType{std::string(gpu_type), {}, {}, {}});
}

}  // namespace allot
