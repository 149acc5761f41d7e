#pragma once
// Logarithms of many floats, on vectors of eight: compiled for any processor and for those with
// AVX2, chosen when the program runs, with the same bits from both. Used by the feature encoder.

#include <cstddef>

namespace allot {

inline constexpr std::size_t kLogLanes = 8;

// values[i] = ln(values[i]), for `count` positive normal numbers, `count` a multiple of kLogLanes.
// Off by a few units in the last place at most; +infinity gives a finite number above 88.
void TakeLogs(float* values, std::size_t count);

// The same, by the code for any processor: what tests compare with.
void TakeLogsPortably(float* values, std::size_t count);

}  // namespace allot
