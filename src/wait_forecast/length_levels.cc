#include "wait_forecast/length_levels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/index.h"
#include "core/rng.h"

namespace allot {
namespace {

double Below(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

constexpr double kFurthest = 9;
constexpr int kHalvings = 34;

// The inverse of Below for levels in (0, 1), exact to 1e-9. The result is that of a bisection; its
// last interval is found by Newton's method from `guess`, in few steps if that is close.
double NormalAt(double level, double guess) {
  constexpr double kWidth = 2 * kFurthest / (std::int64_t{1} << kHalvings);
  double z = guess;
  for (int i = 0; i < 4; ++i) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double step = (level - Below(z)) / density;
    z = std::clamp(z + step, -kFurthest, kFurthest - kWidth);
    if (std::abs(step) < kWidth / 16) break;
  }
  double low = kWidth * std::floor((z + kFurthest) / kWidth) - kFurthest;
  double high = low + kWidth;
  if (!(Below(low) < level) || Below(high) < level) {
    low = -kFurthest;
    high = kFurthest;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      (Below(middle) < level ? low : high) = middle;
    }
  }
  return (low + high) / 2;
}

// Normal numbers, one from each n-th of the distribution, in random order. `middles` are the
// middles of the n-ths.
std::vector<double> NormalParts(Rng rng, int futures, const std::vector<double>& middles) {
  std::vector<double> parts(At(futures));
  std::iota(parts.begin(), parts.end(), 0.0);
  for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[rng.Below(i)]);
  for (double& part : parts) {
    const auto nth = static_cast<std::size_t>(part);
    part = NormalAt((part + rng.Uniform()) / futures, middles[nth]);
  }
  return parts;
}

// Reorders normal numbers so that their correlation with `factor`, by future, becomes about the
// root of `correlation` (Iman, Conover, Communications in Statistics 11(3), 1982).
void Correlate(const std::vector<double>& factor, double correlation, std::vector<double>* own) {
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(own->size());
  for (std::size_t s = 0; s < own->size(); ++s) {
    order.emplace_back(std::sqrt(correlation) * factor[s] + std::sqrt(1 - correlation) * (*own)[s],
                       s);
  }
  std::sort(order.begin(), order.end());
  std::vector<double> sorted = *own;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t s = 0; s < own->size(); ++s) (*own)[order[s].second] = sorted[s];
}

}  // namespace

std::vector<double> LengthLevels(const Observation& o, int futures,
                                 const LengthCorrelations& correlations, std::uint64_t seed) {
  using Kind = std::tuple<std::int32_t, std::int32_t, GpuCount>;
  std::map<Kind, std::vector<double>> by_kind;
  std::vector<double> levels;
  levels.reserve(o.job.size() * At(futures));
  std::vector<double> middles;
  middles.reserve(At(futures));
  for (int i = 0; i < futures; ++i) {
    middles.push_back(NormalAt((i + 0.5) / futures, middles.empty() ? -2 : middles.back()));
  }
  const std::vector<double> common = NormalParts(Rng(seed, "outlook-common"), futures, middles);
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    std::vector<double> own = NormalParts(
        Rng(seed, "outlook-length", static_cast<std::uint64_t>(o.job[r])), futures, middles);
    if (o.user[r] >= 0 && correlations.alike > 0) {
      const Kind kind = {o.user[r], o.group[r], (*o.table[r])[o.requested[r]].demand.gpus};
      std::vector<double>& shared = by_kind[kind];
      if (shared.empty()) {
        const auto& [user, group, gpus] = kind;
        const auto both =
            static_cast<std::uint64_t>(user) << 32 | static_cast<std::uint32_t>(group);
        shared = NormalParts(Rng(seed, "outlook-kind", both, static_cast<std::uint64_t>(gpus)),
                             futures, middles);
      }
      Correlate(shared, correlations.alike, &own);
    }
    if (correlations.common > 0) Correlate(common, correlations.common, &own);
    for (const double level : own) levels.push_back(Below(level));
  }
  return levels;
}

}  // namespace allot
