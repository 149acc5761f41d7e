// The mean JCT, a fifth of its weight on the 95 % shortest: mean^0.8 x short^0.2. For a policy that
// is to be better on the mean and may not pay for it with short jobs.

#include <cmath>

#include "agents/training/objective.h"

namespace allot {
namespace {

constexpr double kWeightOfShort = 0.2;

ALLOT_REGISTER(ObjectiveInfo,
               (ObjectiveInfo{"tilted",
                              "mean JCT, with a fifth of the weight on the 95 % shortest jobs",
                              [](const Played& p) {
                                return std::pow(TrimmedMean(p.jct, 1), 1 - kWeightOfShort) *
                                       std::pow(TrimmedMean(p.jct, kShortestShare), kWeightOfShort);
                              }}));

}  // namespace
}  // namespace allot
