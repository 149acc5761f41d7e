// Minus the time in the system in units of each job's own run time at the requested size: short
// jobs count as much as long ones. Its sum over a finished episode is minus the total slowdown.

#include "envs/rewards/reward.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    RewardInfo,
    (RewardInfo{"slowdown",
                "minus time in system / own run time; sums to minus the total slowdown (1)",
                [](const StepFacts& step, const Observation&) { return -step.slowdown_seconds; }}));

}  // namespace
}  // namespace allot
