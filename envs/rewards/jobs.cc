// Minus the number of jobs in the system on average over the interval, for each GPU: the reward
// "jct" in units in which values are small numbers on any cluster and time scale, as learners with
// a common size of gradients need (PPO clips their norm).

#include <algorithm>

#include "envs/rewards/reward.h"

namespace allot {
namespace {

ALLOT_REGISTER(RewardInfo,
               (RewardInfo{
                   "jobs",
                   "minus jobs in the system per GPU and interval; sums to minus the total JCT / "
                   "(interval x GPUs) while no node comes or goes (1)",
                   [](const StepFacts& step, const Observation& after) {
                     const double gpus = std::max<GpuCount>(1, after.cluster->total().gpus);
                     return -step.job_seconds / (after.interval * gpus);
                   }}));

}  // namespace
}  // namespace allot
