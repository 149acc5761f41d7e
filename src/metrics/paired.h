#pragma once
// Paired comparison of two policies over the same workloads: the geometric mean of the per-workload
// ratios with a 95 % interval by Student's t on their logarithms, so that it stays positive and
// that a / b says the same as b / a. Pairing takes the spread between workloads out of it.
//
// Workloads drawn from one window of a trace share its jobs: they are not independent. Where they
// come from several windows the standard error is that of clustered data (Liang and Zeger,
// Biometrika 1986, with the factor G / (G - 1) for G windows), with G - 1 degrees of freedom.

#include <cstdint>
#include <span>
#include <string>

#include "core/types.h"

namespace allot {

struct PairedRatio {
  double mean = kUnknown;  // of a[i] / b[i]
  double low = kUnknown;   // interval; kUnknown when n < 2
  double high = kUnknown;
  int n = 0;

  bool has_interval() const { return n >= 2; }
  bool below(double value) const { return has_interval() && high < value; }

  // On which side of 1 the interval lies, as tables print it: one that touches 1 after rounding to
  // three digits does not tell the two apart.
  enum class Side { kBelow, kOpen, kAbove };
  Side side() const {
    constexpr double kHalfDigit = 0.0005;
    if (!has_interval()) return Side::kOpen;
    return high < 1 - kHalfDigit   ? Side::kBelow
           : low >= 1 + kHalfDigit ? Side::kAbove
                                   : Side::kOpen;
  }
};

// The window of a workload that is like no other's.
constexpr std::int32_t kWindowOfItsOwn = -1;

// `a` and `b` aligned by workload, of equal length. A side that is unknown or not positive makes
// the result unknown. `windows`: as those of MeanWithInterval.
PairedRatio ComparePaired(std::span<const double> a, std::span<const double> b,
                          std::span<const std::int32_t> windows = {});

// The plain mean of `values` with its interval by Student's t; `n` counts them. `windows` has the
// window that each value's workload was drawn from, or is empty: all are independent. Where all are
// of one window they are taken as independent too: the interval then refers to draws from it.
PairedRatio MeanWithInterval(std::span<const double> values,
                             std::span<const std::int32_t> windows = {});

// The same mean of values that cannot be negative, like times. The interval is that of the mean's
// logarithm, by the relative standard error, so that it lies above 0 however far the values
// scatter.
PairedRatio PositiveMeanWithInterval(std::span<const double> values,
                                     std::span<const std::int32_t> windows = {});

// How such an interval was computed: "Student's t", "Student's t over 4 windows of the trace".
std::string IntervalInWords(std::span<const std::int32_t> windows);

// t with P(|T| <= t) = confidence for Student's distribution; degrees >= 1, confidence in (0, 1).
double StudentQuantile(double confidence, int degrees);

}  // namespace allot
