#include "perf/timing_fits.h"

#include <algorithm>
#include <cmath>

namespace allot {
namespace {

constexpr std::size_t kFew = 6;        // observations up to which every fit begins anew
constexpr double kBadLoss = 0.1;       // above which a fit that went on is compared with a new one
constexpr double kForetold = 0.02;     // of both times, relative
constexpr std::size_t kForetells = 3;  // observations from which a fit may foretell

bool SameWay(const TimingObservation& a, const TimingObservation& b) {
  return a.several_nodes == b.several_nodes && (a.gpus > 2) == (b.gpus > 2);
}

bool Foretold(const StepTiming& timing, const TimingObservation& seen) {
  const auto near = [](double guess, double truth) {
    return std::abs(std::log(guess / truth)) < kForetold;
  };
  return near(timing.Gradient(seen.local_batch), seen.gradient) &&
         near(timing.Iteration(seen.several_nodes, seen.gpus, seen.local_batch, 0), seen.iteration);
}

}  // namespace

bool TimingFits::Observe(std::string_view gpu_type, std::int32_t nodes,
                         const TimingObservation& observation) {
  CheckObservation(observation);
  most_gpus_ = std::max(most_gpus_, observation.gpus);
  auto type = std::find_if(types_.begin(), types_.end(),
                           [&](const OfType& known) { return known.gpu_type == gpu_type; });
  if (type == types_.end()) {
    type = types_.insert(types_.end(), {std::string(gpu_type), {}, {}, {}});
  }
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
  if (seen > kForetells - 1 && Foretold(type->fit.timing, observation)) return false;
  Fit(&*type);
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

const StepTiming* TimingFits::On(std::string_view gpu_type) const {
  for (const OfType& type : types_) {
    if (type.gpu_type == gpu_type) return &type.fit.timing;
  }
  return nullptr;
}

}  // namespace allot
