#include "length_model/gittins_table.h"

#include <algorithm>
#include <limits>

#include "core/check.h"

namespace allot {

GittinsTable::GittinsTable(double unit, double weight, const std::function<double(double)>& beyond,
                           double patience)
    : bins_(unit), patience_(patience), total_(weight) {
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double left = bin + 1 < kBins ? beyond(bins_.Edge(bin + 1)) : 0;
    prior_[bin] = weight * std::max(0.0, beyond(bins_.Edge(bin)) - left);
  }
}

void GittinsTable::Add(double size, double weight) {
  counts_[bins_.Of(size)] += weight;
  total_ += weight;
  added_ += weight;
  if (added_ < patience_ * total_) return;
  added_ = 0;
  stale_ = true;
}

void GittinsTable::SetCounts(std::span<const double> counts) {
  ALLOT_CHECK_EQ(counts.size(), counts_.size());
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    total_ += counts[bin] - counts_[bin];
    counts_[bin] = counts[bin];
  }
  stale_ = true;
}

std::array<double, SizeBins::kCount> GittinsTable::Sizes() const {
  std::array<double, kBins> sizes;
  for (std::size_t bin = 0; bin < kBins; ++bin) sizes[bin] = prior_[bin] + counts_[bin];
  return sizes;
}

const RankedSizes& GittinsTable::ranked() const {
  if (stale_) {
    ranked_.Set(Sizes());
    stale_ = false;
  }
  return ranked_;
}

RemainingSize GittinsTable::Predict(double attained) const {
  return ranked().Predict(bins_, attained);
}

double GittinsTable::Remaining(double attained, double level) const {
  return ranked().Remaining(bins_, attained, level);
}

double GittinsTable::Rank(double attained) const {
  return ranked().Rank(bins_, bins_.Of(attained));
}

double GittinsTable::NextChange(double attained) const {
  const std::size_t bin = bins_.Of(attained);
  return bin + 1 < kBins ? bins_.Edge(bin + 1) : std::numeric_limits<double>::infinity();
}

}  // namespace allot
