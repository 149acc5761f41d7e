// DL2's reward (TPDS'21, section 4.3): the share of its own work that each running job did. Its sum
// over a finished episode is the number of jobs, whatever the policy: kept for comparison, not for
// use.

#include "envs/rewards/reward.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    RewardInfo,
    (RewardInfo{
        "progress",
        "sum of the jobs' progress as shares of their work (DL2); sums to the number of jobs (1)",
        [](const StepFacts& step, const Observation&) { return step.progress; }}));

}  // namespace
}  // namespace allot
