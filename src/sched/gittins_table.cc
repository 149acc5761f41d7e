#include "sched/gittins_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/check.h"

namespace allot {

namespace {

constexpr double kBinsPerOctave = 4;

}  // namespace

GittinsTable::GittinsTable(double unit, double weight, const std::function<double(double)>& beyond,
                           double patience)
    : unit_(unit), per_unit_(1 / unit), patience_(patience), total_(weight) {
  for (std::size_t bin = 1; bin <= kBins; ++bin) {
    edges_[bin] = unit_ * std::exp2(static_cast<double>(bin - 1) / kBinsPerOctave);
  }
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double left = bin + 1 < kBins ? beyond(Edge(bin + 1)) : 0;
    prior_[bin] = weight * std::max(0.0, beyond(Edge(bin)) - left);
    middles_[bin] = bin == 0 ? unit_ / 2 : std::sqrt(Edge(bin) * Edge(bin + 1));
  }
}

std::size_t GittinsTable::BinOf(double size) const {
  if (!(size >= unit_)) return 0;
  const auto bits = std::bit_cast<std::uint64_t>(size * per_unit_);
  const auto octave = static_cast<int>(bits >> 52) - 1023;
  const std::uint64_t within = bits & ((std::uint64_t{1} << 52) - 1);
  // Against the fractions of the fourth roots of 2, 4 and 8.
  const int guess = 4 * octave + 1 + (within >= 0x306FE0A31B715 ? 1 : 0) +
                    (within >= 0x6A09E667F3BCD ? 1 : 0) + (within >= 0xAE89F995AD3AD ? 1 : 0);
  std::size_t bin = std::min(static_cast<std::size_t>(std::max(guess, 0)), kBins - 1);
  // Rounding of the ratio must not put a size below its bin's edge, or at the next one's.
  while (bin > 0 && size < Edge(bin)) --bin;
  while (bin + 1 < kBins && size >= Edge(bin + 1)) ++bin;
  return bin;
}

void GittinsTable::Add(double size, double weight) {
  counts_[BinOf(size)] += weight;
  total_ += weight;
  added_ += weight;
  if (added_ < patience_ * total_) return;
  added_ = 0;
  stale_ = true;
}

GittinsTable::Forecast GittinsTable::Of(double attained) const {
  if (stale_) Rerank();
  const std::size_t first = BinOf(attained);
  // Within a bin sizes lie evenly: of the first one only the part beyond `attained` counts.
  const double share =
      std::clamp((Edge(first + 1) - attained) / (Edge(first + 1) - Edge(first)), 0.0, 1.0);
  const double left =
      std::min(from_[first], from_[first + 1] + (from_[first] - from_[first + 1]) * share);
  return {.rank = ranks_[first],
          .median = Remaining(attained, kMedian, first, left, median_hints_),
          .high = Remaining(attained, kHigh, first, left, high_hints_)};
}

std::size_t GittinsTable::LastBinAbove(double wanted, std::size_t from) const {
  while (from + 1 < kBins && from_[from + 1] > wanted) ++from;
  return from;
}

double GittinsTable::Remaining(double attained, double level, std::size_t first, double left,
                               const BinsOf& hints) const {
  if (!(left > 0)) return std::max(attained, unit_);
  const double wanted = (1 - level) * left;  // of them are larger
  const std::size_t bin = LastBinAbove(wanted, hints[first]);
  const double low = std::max(attained, Edge(bin));
  const double at_low = bin == first ? left : from_[bin];
  const double here = at_low - from_[bin + 1];
  if (!(here > 0)) return std::max(low - attained, unit_);
  return low + (Edge(bin + 1) - low) * std::min(1.0, (at_low - wanted) / here) - attained;
}

void GittinsTable::SetCounts(std::span<const double> counts) {
  ALLOT_CHECK_EQ(counts.size(), counts_.size());
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    total_ += counts[bin] - counts_[bin];
    counts_[bin] = counts[bin];
  }
  stale_ = true;
}

double GittinsTable::Rank(double attained) const {
  if (stale_) Rerank();
  return ranks_[BinOf(attained)];
}

double GittinsTable::NextChange(double attained) const {
  const std::size_t bin = BinOf(attained);
  return bin + 1 < kBins ? Edge(bin + 1) : std::numeric_limits<double>::infinity();
}

void GittinsTable::Rerank() const {
  std::array<double, kBins> sizes;
  for (std::size_t bin = 0; bin < kBins; ++bin) sizes[bin] = prior_[bin] + counts_[bin];
  double left = 0;  // sizes in this bin or beyond
  for (std::size_t from = kBins; from-- > 0;) {
    left += sizes[from];
    from_[from] = left;
    const double start = Edge(from);
    // Nothing like it was ever seen: as much again as it has had.
    ranks_[from] = std::max(start, unit_);
    if (!(left > 0)) continue;
    double best = std::numeric_limits<double>::infinity();
    double done = 0;
    double spent = 0;  // on those that end
    for (std::size_t to = from; to < kBins; ++to) {
      done += sizes[to];
      spent += sizes[to] * (middles_[to] - start);
      if (!(done > 0)) continue;
      const double beyond = std::max(0.0, left - done);
      best = std::min(best, (spent + beyond * (Edge(to + 1) - start)) / done);
      if (spent >= best * left) break;  // no later stop costs less, as done <= left
    }
    ranks_[from] = best;
  }
  // Fewer are left of a bin than at its lower edge, so that its own answers are no smaller.
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    median_hints_[bin] = static_cast<std::uint8_t>(LastBinAbove((1 - kMedian) * from_[bin], bin));
    high_hints_[bin] = static_cast<std::uint8_t>(LastBinAbove((1 - kHigh) * from_[bin], bin));
  }
  stale_ = false;
}

}  // namespace allot
