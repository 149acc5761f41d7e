// Fraction of the cluster's GPU time that was allocated to jobs.

#include "envs/rewards/reward.h"

namespace allot {
namespace {

ALLOT_REGISTER(RewardInfo,
               (RewardInfo{"utilisation", "GPU time held / GPU time there was, each decision (1)",
                           [](const StepFacts& step, const Observation& after) {
                             if (step.elapsed <= 0) return 0.0;
                             return step.gpu_seconds / (step.elapsed * after.cluster->total().gpus);
                           }}));

}  // namespace
}  // namespace allot
