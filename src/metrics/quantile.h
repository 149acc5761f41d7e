#pragma once
// Quantiles by linear interpolation between order statistics: type 7 of Hyndman & Fan (The American
// Statistician 50(4), 1996), the default of numpy, pandas and R, so that a reader who recomputes a
// figure from jobs.csv finds the same number.

#include <cmath>
#include <span>

#include "core/check.h"
#include "core/types.h"

namespace allot {

// `sorted` ascending; `level` in [0, 1]. kUnknown when empty.
template <typename T>
double Quantile(std::span<const T> sorted, double level) {
  ALLOT_CHECK(level >= 0 && level <= 1);
  if (sorted.empty()) return kUnknown;
  const double position = level * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return static_cast<double>(sorted.back());
  const double low = static_cast<double>(sorted[below]);
  const double high = static_cast<double>(sorted[below + 1]);
  return low + (position - static_cast<double>(below)) * (high - low);
}

}  // namespace allot
