// Minus the time that unfinished jobs spent in the system. By Little's law its sum over a finished
// episode is minus the total JCT (as in Decima, Mao et al., SIGCOMM'19, section 5.2).

#include "envs/rewards/reward.h"

namespace allot {
namespace {

ALLOT_REGISTER(RewardInfo,
               (RewardInfo{
                   "jct", "minus job-seconds in the system; sums to minus the total JCT (s)",
                   [](const StepFacts& step, const Observation&) { return -step.job_seconds; }}));

}  // namespace
}  // namespace allot
