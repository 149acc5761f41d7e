// The geometric mean of the mean JCT and the mean JCT of the 95 % shortest: half the sum of their
// logarithms. The mean alone is decided by the longest jobs, and is bought from the short ones.

#include <cmath>

#include "agents/training/objective.h"

namespace allot {
namespace {

ALLOT_REGISTER(ObjectiveInfo,
               (ObjectiveInfo{"balanced", "mean JCT and mean JCT of the 95 % shortest, both",
                              [](const Played& p) {
                                return std::sqrt(TrimmedMean(p.jct, 1) *
                                                 TrimmedMean(p.jct, kShortestShare));
                              }}));

}  // namespace
}  // namespace allot
