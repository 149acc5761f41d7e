#include "outlook/length_levels.h"

#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/index.h"
#include "core/rng.h"

namespace allot {
namespace {

double Below(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

// The inverse of Below, by bisection where it is monotone: exact to 1e-9, without a table of
// coefficients. Levels are of (0, 1).
double NormalAt(double level) {
  double low = -9, high = 9;
  for (int i = 0; i < 34; ++i) {
    const double middle = (low + high) / 2;
    (Below(middle) < level ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Normal numbers, one from each n-th of the distribution, in random order.
std::vector<double> NormalParts(Rng rng, int futures) {
  std::vector<double> parts(At(futures));
  std::iota(parts.begin(), parts.end(), 0.0);
  for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[rng.Below(i)]);
  for (double& part : parts) part = NormalAt((part + rng.Uniform()) / futures);
  return parts;
}

}  // namespace

std::vector<std::vector<double>> LengthLevels(const Observation& o, int futures, double alike,
                                              std::uint64_t seed) {
  using Kind = std::tuple<std::int32_t, std::int32_t, GpuCount>;
  std::map<Kind, std::vector<double>> common;
  std::vector<std::vector<double>> levels;
  levels.reserve(o.job.size());
  const double of_common = std::sqrt(alike);
  const double of_own = std::sqrt(1 - alike);
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    levels.push_back(
        NormalParts(Rng(seed, "outlook-length", static_cast<std::uint64_t>(o.job[r])), futures));
    std::vector<double>& own = levels.back();
    if (o.user[r] >= 0 && alike > 0) {
      const Kind kind = {o.user[r], o.group[r], (*o.table[r])[o.requested[r]].demand.gpus};
      std::vector<double>& shared = common[kind];
      if (shared.empty()) {
        const auto& [user, group, gpus] = kind;
        const auto both =
            static_cast<std::uint64_t>(user) << 32 | static_cast<std::uint32_t>(group);
        shared =
            NormalParts(Rng(seed, "outlook-kind", both, static_cast<std::uint64_t>(gpus)), futures);
      }
      for (std::size_t s = 0; s < own.size(); ++s) {
        own[s] = of_common * shared[s] + of_own * own[s];
      }
    }
    for (double& level : own) level = Below(level);
  }
  return levels;
}

}  // namespace allot
