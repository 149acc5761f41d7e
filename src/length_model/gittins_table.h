#pragma once
// The Gittins index of a job of unknown size, from sizes that were seen before. Used by the
// orderings gittins and gittins-given-estimate; knows nothing of jobs or clusters.

#include <array>
#include <cstddef>
#include <functional>
#include <span>

#include "length_model/size_bins.h"

namespace allot {

// A distribution of sizes in geometric bins, four to an octave. The rank of a job that has attained
// a is the inverse of its Gittins index (Gittins, J. R. Stat. Soc. B 1979): the least expected
// service per completion over all times to stop at,
//
//   rank(a) = min over d of E[min(S - a, d) | S > a] / P(S - a <= d | S > a),
//
// with a and a + d at edges of bins; smaller is better. Sizes of weights that are powers of two are
// added in any order with the same result. O(1) a rank; after an Add O(bins) the first of each bin.
class GittinsTable {
 public:
  // Sizes are counted in `unit` (the first bin is [0, unit)). The prior is worth `weight` sizes, of
  // which the fraction `beyond(x)` is larger than x; it must fall from 1 towards 0.
  // With `patience` > 0 ranks are computed again only when the sizes added since then are that
  // fraction of all.
  GittinsTable(double unit, double weight, const std::function<double(double)>& beyond,
               double patience = 0);

  void Add(double size, double weight = 1);

  // The added sizes by bin, without the prior. SetCounts takes those of a table of the same unit.
  std::span<const double> counts() const { return counts_; }
  void SetCounts(std::span<const double> counts);  // as many as counts() has
  double Rank(double attained) const;
  double NextChange(
      double attained) const;  // the rank is valid up to here; infinite in the last bin

  // The added sizes and the prior: by bin, and in all.
  std::array<double, SizeBins::kCount> Sizes() const;
  double total() const { return total_; }
  const SizeBins& bins() const { return bins_; }

  // Predicts the remaining size of a job that has attained so much. O(1) on the average.
  RemainingSize Predict(double attained) const;
  // The quantile of the remaining size at `level`, in [0, 1). O(bins).
  double Remaining(double attained, double level) const;

 private:
  static constexpr std::size_t kBins = SizeBins::kCount;
  const RankedSizes& ranked() const;

  SizeBins bins_;
  std::array<double, kBins> prior_{};
  std::array<double, kBins> counts_{};
  mutable RankedSizes ranked_;
  double patience_ = 0;
  double total_ = 0;
  double added_ = 0;  // sizes added since the ranks were computed; only while patience_ > 0
  mutable bool stale_ = true;
};

}  // namespace allot
