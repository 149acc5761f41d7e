#pragma once
// Paired comparison of two policies over the same workloads: the geometric mean of the per-workload
// ratios with a 95 % interval by Student's t on their logarithms, so that it stays positive and
// that a / b says the same as b / a. Pairing takes the spread between workloads out of it.

#include <span>

#include "core/types.h"

namespace allot {

struct PairedRatio {
  double mean = kUnknown;  // of a[i] / b[i]
  double low = kUnknown;   // interval; kUnknown when n < 2
  double high = kUnknown;
  int n = 0;

  bool has_interval() const { return n >= 2; }
  bool below(double value) const { return has_interval() && high < value; }
};

// `a` and `b` aligned by workload, of equal length. A side that is unknown or not positive makes
// the result unknown.
PairedRatio ComparePaired(std::span<const double> a, std::span<const double> b);

// The plain mean of `values` with its interval by Student's t; `n` counts them.
PairedRatio MeanWithInterval(std::span<const double> values);

// t with P(|T| <= t) = confidence for Student's distribution; degrees >= 1, confidence in (0, 1).
double StudentQuantile(double confidence, int degrees);

}  // namespace allot
