#pragma once
// Distributions of sizes in geometric bins, four per octave. From these follow the Gittins rank
// (the formula is at GittinsTable) and quantiles of the remaining size. Knows nothing of jobs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace allot {

// The bins themselves; the first is [0, unit).
class SizeBins {
 public:
  static constexpr std::size_t kCount = 160;

  explicit SizeBins(double unit);

  double unit() const { return unit_; }
  double Edge(std::size_t bin) const { return edges_[bin]; }  // the lower one; kCount has the last
  double Middle(std::size_t bin) const { return middles_[bin]; }
  std::size_t Of(double size) const;

 private:
  double unit_;
  double per_unit_;
  std::array<double, kCount + 1> edges_{};
  std::array<double, kCount> middles_{};
};

// The predicted remaining size of a job that has attained some: its rank, and the quantiles at
// kMedian and kHigh.
struct RemainingSize {
  double rank;
  double median;
  double high;
};

// A distribution of which few bins are asked for before the next Set. Set costs O(bins), the first
// question about a bin O(bins), further ones O(1) on the average.
class RankedSizes {
 public:
  static constexpr double kMedian = 0.5;
  static constexpr double kHigh = 0.9;

  // Weights by bin; their sum is free.
  void Set(std::span<const double, SizeBins::kCount> sizes);

  double Rank(const SizeBins& bins, std::size_t bin) const;
  RemainingSize Predict(const SizeBins& bins, double attained) const;
  // The quantile of the remaining size at `level`, in [0, 1). O(bins).
  double Remaining(const SizeBins& bins, double attained, double level) const;

 private:
  static constexpr std::size_t kBins = SizeBins::kCount;
  static constexpr std::uint8_t kNoHint = 255;
  using BinsOf = std::array<std::uint8_t, kBins>;

  double ComputeRank(const SizeBins& bins, std::size_t from) const;
  // The last bin after `from` with more than `wanted` sizes in it or beyond; at least `from`.
  std::size_t LastBinAbove(double wanted, std::size_t from) const;
  // The number of larger sizes; `attained` is in bin `first`.
  double Beyond(const SizeBins& bins, double attained, std::size_t first) const;
  // The quantile at `level` among the `left` sizes beyond `attained` in bin `first`.
  double Remaining(const SizeBins& bins, double attained, double level, std::size_t first,
                   double left, BinsOf* hints) const;
  // The same quantile if no bin before `from` contains it.
  double RemainingFrom(const SizeBins& bins, double attained, double level, std::size_t first,
                       double left, std::size_t from) const;

  std::array<double, kBins> sizes_{};
  std::array<double, kBins + 1> from_{};       // sizes in this bin or beyond
  mutable std::array<double, kBins> ranks_{};  // NaN: not computed yet
  mutable BinsOf median_hints_{};  // by bin of the attained size: no smaller bin is the answer
  mutable BinsOf high_hints_{};
};

}  // namespace allot
