#include "length_model/size_bins.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace allot {

namespace {

constexpr double kBinsPerOctave = 4;

}  // namespace

SizeBins::SizeBins(double unit) : unit_(unit), per_unit_(1 / unit) {
  for (std::size_t bin = 1; bin <= kCount; ++bin) {
    edges_[bin] = unit_ * std::exp2(static_cast<double>(bin - 1) / kBinsPerOctave);
  }
  for (std::size_t bin = 0; bin < kCount; ++bin) {
    middles_[bin] = bin == 0 ? unit_ / 2 : std::sqrt(Edge(bin) * Edge(bin + 1));
  }
}

std::size_t SizeBins::Of(double size) const {
  if (!(size >= unit_)) return 0;
  const auto bits = std::bit_cast<std::uint64_t>(size * per_unit_);
  const auto octave = static_cast<int>(bits >> 52) - 1023;
  const std::uint64_t within = bits & ((std::uint64_t{1} << 52) - 1);
  // Against the fractions of the fourth roots of 2, 4 and 8.
  const int guess = 4 * octave + 1 + (within >= 0x306FE0A31B715 ? 1 : 0) +
                    (within >= 0x6A09E667F3BCD ? 1 : 0) + (within >= 0xAE89F995AD3AD ? 1 : 0);
  std::size_t bin = std::min(static_cast<std::size_t>(std::max(guess, 0)), kCount - 1);
  // Rounding of the ratio must not put a size below its bin's edge, or at the next one's.
  while (bin > 0 && size < Edge(bin)) --bin;
  while (bin + 1 < kCount && size >= Edge(bin + 1)) ++bin;
  return bin;
}

void RankedSizes::Set(std::span<const double, SizeBins::kCount> sizes) {
  double left = 0;
  for (std::size_t bin = kBins; bin-- > 0;) {
    sizes_[bin] = sizes[bin];
    left += sizes[bin];
    from_[bin] = left;
  }
  ranks_.fill(std::numeric_limits<double>::quiet_NaN());
  median_hints_.fill(kNoHint);
  high_hints_.fill(kNoHint);
}

double RankedSizes::Rank(const SizeBins& bins, std::size_t bin) const {
  if (std::isnan(ranks_[bin])) ranks_[bin] = ComputeRank(bins, bin);
  return ranks_[bin];
}

double RankedSizes::ComputeRank(const SizeBins& bins, std::size_t from) const {
  const double start = bins.Edge(from);
  const double left = from_[from];
  // Nothing like it was ever seen: as much again as it has had.
  if (!(left > 0)) return std::max(start, bins.unit());
  double best = std::numeric_limits<double>::infinity();
  double done = 0;
  double spent = 0;  // on those that end
  for (std::size_t to = from; to < kBins; ++to) {
    done += sizes_[to];
    spent += sizes_[to] * (bins.Middle(to) - start);
    if (!(done > 0)) continue;
    const double beyond = std::max(0.0, left - done);
    best = std::min(best, (spent + beyond * (bins.Edge(to + 1) - start)) / done);
    if (spent >= best * left) break;  // no later stop costs less, as done <= left
  }
  return best;
}

double RankedSizes::Beyond(const SizeBins& bins, double attained, std::size_t first) const {
  // Within a bin sizes lie evenly: of the first one only the part beyond `attained` counts.
  const double end = bins.Edge(first + 1);
  const double share = std::clamp((end - attained) / (end - bins.Edge(first)), 0.0, 1.0);
  return std::min(from_[first], from_[first + 1] + (from_[first] - from_[first + 1]) * share);
}

double RankedSizes::Remaining(const SizeBins& bins, double attained, double level) const {
  const std::size_t first = bins.Of(attained);
  return RemainingFrom(bins, attained, level, first, Beyond(bins, attained, first), first);
}

RemainingSize RankedSizes::Predict(const SizeBins& bins, double attained) const {
  const std::size_t first = bins.Of(attained);
  const double left = Beyond(bins, attained, first);
  return {.rank = Rank(bins, first),
          .median = Remaining(bins, attained, kMedian, first, left, &median_hints_),
          .high = Remaining(bins, attained, kHigh, first, left, &high_hints_)};
}

std::size_t RankedSizes::LastBinAbove(double wanted, std::size_t from) const {
  while (from + 1 < kBins && from_[from + 1] > wanted) ++from;
  return from;
}

double RankedSizes::Remaining(const SizeBins& bins, double attained, double level,
                              std::size_t first, double left, BinsOf* hints) const {
  std::uint8_t& hint = (*hints)[first];
  // Fewer are left of a bin than at its lower edge, so that its own answers are no smaller.
  if (hint == kNoHint) {
    hint = static_cast<std::uint8_t>(LastBinAbove((1 - level) * from_[first], first));
  }
  return RemainingFrom(bins, attained, level, first, left, hint);
}

double RankedSizes::RemainingFrom(const SizeBins& bins, double attained, double level,
                                  std::size_t first, double left, std::size_t from) const {
  if (!(left > 0)) return std::max(attained, bins.unit());
  const double wanted = (1 - level) * left;  // of them are larger
  const std::size_t bin = LastBinAbove(wanted, from);
  const double low = std::max(attained, bins.Edge(bin));
  const double at_low = bin == first ? left : from_[bin];
  const double here = at_low - from_[bin + 1];
  if (!(here > 0)) return std::max(low - attained, bins.unit());
  return low + (bins.Edge(bin + 1) - low) * std::min(1.0, (at_low - wanted) / here) - attained;
}

}  // namespace allot
