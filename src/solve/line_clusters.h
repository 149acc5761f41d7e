#pragma once
// Groups of numbers that lie near each other: K-means on a line, exactly.

#include <span>
#include <vector>

namespace allot {

// The centres (means), ascending, of the `count` groups with the least sum of squared distances
// from their centres; fewer where there are fewer different numbers. Groups of sorted numbers are
// intervals, and the first number of the last group moves up with the last number, so that halving
// finds them (Wang and Song, The R Journal 2011, for the recurrence). Contract (checked): at least
// one number, all finite, count >= 1. O(count n log n).
std::vector<double> LineClusters(std::span<const double> numbers, int count);

}  // namespace allot
