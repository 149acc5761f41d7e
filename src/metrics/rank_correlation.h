#pragma once
// How far two lists order the same things alike: Spearman's rank correlation, equal values at their
// mean rank. Used by `allot whatif` to compare simulated waits with recorded ones.

#include <span>

namespace allot {

// From -1 to 1; kUnknown for fewer than two values, or where all of a list are equal. The lists are
// of one length (checked). O(n log n).
double RankCorrelation(std::span<const double> a, std::span<const double> b);

}  // namespace allot
