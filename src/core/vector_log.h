#pragma once
// Logarithms of many numbers, on vectors of eight floats or four doubles: compiled for any
// processor and for those with AVX2, chosen when the program runs, with the same bits from both.
// Used by the feature encoder.

#include <cstddef>

namespace allot {

inline constexpr std::size_t kLogLanes = 8;
inline constexpr std::size_t kWideLogLanes = 4;

// values[i] = ln(values[i]) but at least -bound and at most bound, for `count` positive normal
// numbers or +infinity, `count` a multiple of kLogLanes. Off by a few units in the last place at
// most; the logarithm of infinity counts as a number above 88.
void TakeLogs(float* values, std::size_t count, float bound);

// The same in double precision, off by a unit in the last place at most, for a multiple of
// kWideLogLanes; that of infinity counts as one above 709.
void TakeLogs(double* values, std::size_t count, double bound);

// The same, by the code for any processor: what tests compare with.
void TakeLogsPortably(float* values, std::size_t count, float bound);
void TakeLogsPortably(double* values, std::size_t count, double bound);

}  // namespace allot
