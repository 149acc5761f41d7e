#include "perf/timing_book.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace allot {

TimingBook::Entry TimingBook::Begin(const std::string& model, std::vector<std::string> levels) {
  std::shared_ptr<TimingFits>& pooled = pooled_[model];
  if (pooled == nullptr) pooled = std::make_shared<TimingFits>();
  return {std::move(levels), pooled};
}

TimingBook::Gap TimingBook::GapTo(const TimingFits& fits, std::string_view gpu_type,
                                  bool several_nodes, GpuCount gpus) {
  const GpuCount same = fits.Nearest(gpu_type, several_nodes, gpus);
  if (same == gpus) return {};
  const SpeedStep first = several_nodes ? SpeedStep::kApart : SpeedStep::kTogether;
  // One GPU alone says nothing of how several work together.
  if (same > 1) {
    return {same < gpus ? SpeedStep::kMore : SpeedStep::kFewer, SpeedPrior::Doublings(same, gpus)};
  }
  const GpuCount other = fits.Nearest(gpu_type, !several_nodes, gpus);
  const GpuCount nearest = other > 0 ? other : std::max<GpuCount>(same, 1);
  if (gpus == 1) return {SpeedStep::kFewer, SpeedPrior::Doublings(nearest, gpus)};
  return {first, SpeedPrior::Doublings(nearest, gpus)};
}

SpeedError TimingBook::ErrorAt(const Entry& entry, std::string_view gpu_type, bool several_nodes,
                               GpuCount gpus) const {
  const Gap gap = GapTo(*entry.fits, gpu_type, several_nodes, gpus);
  if (gap.doublings == 0) return {};
  return prior_.Of(entry.levels, gap.step, gap.doublings);
}

void TimingBook::Observe(const std::string& model, std::string_view gpu_type, std::int32_t nodes,
                         const TimingObservation& seen, Entry* entry) {
  TimingFits& pooled = *pooled_.at(model);
  const Gap gap = GapTo(pooled, gpu_type, seen.several_nodes, seen.gpus);
  const TimingFits::Error error = pooled.ErrorOf(gpu_type, seen);
  if (gap.doublings > 0) {
    prior_.Observe(entry->levels, gap.step, seen.gpus, gap.doublings, -error.iteration);
  }
  const double against = pooled.AgainstSeen(gpu_type, nodes, seen);
  pooled.Observe(gpu_type, nodes, seen);
  const bool known = std::any_of(entry->own.begin(), entry->own.end(), [&](const Entry::Seen& own) {
    return own.gpu_type == gpu_type && own.nodes == nodes && own.observation.gpus == seen.gpus &&
           own.observation.local_batch == seen.local_batch;
  });
  if (known) return;
  entry->own.push_back({std::string(gpu_type), nodes, seen});
  if (std::isfinite(against)) {
    entry->slower += against;
    ++entry->compared;
    entry->differs = entry->differs || std::abs(against) > kDiffers;
  }
  if (entry->differs) Own(pooled, entry);
}

void TimingBook::Own(const TimingFits& pooled, Entry* entry) const {
  auto fits = std::make_shared<TimingFits>();
  for (const Entry::Seen& own : entry->own) {
    fits->Observe(own.gpu_type, own.nodes, own.observation);
  }
  fits->Adopt(pooled, std::exp(entry->slower / entry->compared));
  entry->fits = std::move(fits);
}

}  // namespace allot
