#pragma once
// Thins out curves for drawing: a page needs hundreds of points where a run has hundreds of
// thousands.

#include <span>
#include <vector>

#include "core/types.h"

namespace allot {

// The quantiles of `values` at `count` evenly spaced levels from 0 to 1; empty for no values.
std::vector<double> EvenQuantiles(std::vector<double> values, int count);

// Time-weighted means of a step function over `count` equal buckets of [begin, end): it is
// `values[i]` from `times[i]` (ascending) to `times[i + 1]`, the last one until `until`. Buckets
// that it does not touch are kUnknown.
std::vector<double> BucketMeans(std::span<const double> times, std::span<const double> values,
                                double until, double begin, double end, int count);

// Plain means of runs of neighbours, so that at most `count` remain; unknown values are left out,
// and a run of only those is kUnknown.
std::vector<double> ThinnedMeans(std::span<const double> values, std::size_t count);

// Rounded to `digits` significant decimal digits: shorter text, same picture.
double RoundedTo(double value, int digits);

}  // namespace allot
