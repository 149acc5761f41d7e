#include "sched/gittins_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace allot {

namespace {

constexpr double kBinsPerOctave = 4;

}  // namespace

GittinsTable::GittinsTable(double unit, double weight, const std::function<double(double)>& beyond,
                           double patience)
    : unit_(unit), patience_(patience), total_(weight) {
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double left = bin + 1 < kBins ? beyond(Edge(bin + 1)) : 0;
    prior_[bin] = weight * std::max(0.0, beyond(Edge(bin)) - left);
  }
}

double GittinsTable::Edge(std::size_t bin) const {
  return bin == 0 ? 0 : unit_ * std::exp2(static_cast<double>(bin - 1) / kBinsPerOctave);
}

double GittinsTable::Middle(std::size_t bin) const {
  return bin == 0 ? unit_ / 2 : std::sqrt(Edge(bin) * Edge(bin + 1));
}

std::size_t GittinsTable::BinOf(double size) const {
  if (!(size >= unit_)) return 0;
  const auto guess = static_cast<std::size_t>(1 + kBinsPerOctave * std::log2(size / unit_));
  std::size_t bin = std::min(guess, kBins - 1);
  // Rounding of the logarithm must not put a size below its bin's edge, or at the next one's.
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

double GittinsTable::Remaining(double attained, double level) const {
  const std::size_t first = BinOf(attained);
  // Within a bin sizes lie evenly; of the first bin only the part beyond `attained` counts.
  const auto weight = [&](std::size_t bin) {
    const double all = prior_[bin] + counts_[bin];
    if (bin > first) return all;
    return all * (Edge(bin + 1) - attained) / (Edge(bin + 1) - Edge(bin));
  };
  double left = 0;
  for (std::size_t bin = first; bin < kBins; ++bin) left += weight(bin);
  if (!(left > 0)) return std::max(attained, unit_);
  double wanted = level * left;
  for (std::size_t bin = first; bin < kBins; ++bin) {
    const double here = weight(bin);
    if (here < wanted) {
      wanted -= here;
      continue;
    }
    const double low = std::max(attained, Edge(bin));
    return low + (Edge(bin + 1) - low) * wanted / here - attained;
  }
  return Edge(kBins) - attained;
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
  double left = 0;  // sizes in this bin or beyond
  for (std::size_t from = kBins; from-- > 0;) {
    left += prior_[from] + counts_[from];
    const double start = Edge(from);
    // Nothing like it was ever seen: as much again as it has had.
    ranks_[from] = std::max(start, unit_);
    if (!(left > 0)) continue;
    double best = std::numeric_limits<double>::infinity();
    double done = 0;
    double spent = 0;  // on those that end
    for (std::size_t to = from; to < kBins; ++to) {
      const double here = prior_[to] + counts_[to];
      done += here;
      spent += here * (Middle(to) - start);
      if (!(done > 0)) continue;
      const double beyond = std::max(0.0, left - done);
      best = std::min(best, (spent + beyond * (Edge(to + 1) - start)) / done);
    }
    ranks_[from] = best;
  }
  stale_ = false;
}

}  // namespace allot
