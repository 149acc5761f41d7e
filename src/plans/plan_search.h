#pragma once
// The plans of a number of GPUs, and the best of them.
//
// A plan is considered where everything divides: GPUs, heads by the tensor split, experts, the
// batch by replicas and micro-batches; layers may be uneven by 15 %. Tensor splits stay on one node
// and have at most 8 GPUs, context splits leave at least 4096 tokens, splits and micro-batches (at
// most 32) are powers of two except that a pipeline has any number of stages, and each stage has a
// micro-batch. Adding a rule is editing EachPlan.

#include <cstdint>
#include <optional>
#include <vector>

#include "plans/plan_cost.h"

namespace allot {

struct RatedPlan {
  Plan plan;
  Seconds step = 0;
  double memory = 0;  // bytes on the fullest GPU
};

// Parts of the plan that the user keeps; what is absent is chosen.
struct FixedSplit {
  std::optional<int> tensor{};
  std::optional<int> pipeline{};
  std::optional<int> interleave{};
  std::optional<int> context{};
  std::optional<int> expert{};
  std::optional<int> zero{};
  std::optional<int> micro_batch{};
  std::optional<Recompute> recompute{};
};

// What is trained on which GPUs.
struct PlanProblem {
  TrainingSetup training;
  GpuFacts gpu;
  FixedSplit split;
};

// The fastest plan that fits memory; nothing where none does. Plans of equal time: the first, with
// the smaller splits. O(plans): 0.04 to 0.9 ms.
std::optional<RatedPlan> BestPlan(const PlanProblem& problem, const PlanRoom& room);

// The best plan of each split that has one (equal tensor, pipeline, context and expert split and
// ZeRO stage), and for the others what they would need.
struct PlanSurvey {
  std::int64_t tried = 0;  // plans that divide evenly
  std::int64_t fit = 0;    // of these, that fit memory
  double usable_memory = 0;
  std::vector<RatedPlan> best;       // by rising time
  std::vector<RatedPlan> too_large;  // the smallest of each split that never fits, by rising memory
};
PlanSurvey SurveyPlans(const PlanProblem& problem, const PlanRoom& room);

// The least number of GPUs that has a plan, on full nodes of the GPU type: of 1 to 64, and of whole
// nodes up to `most`; nothing where none has. O(counts x plans).
std::optional<GpuCount> LeastGpus(const PlanProblem& problem, GpuCount most);

// GPUs of full nodes of this type.
inline PlanRoom FullNodes(const GpuFacts& gpu, GpuCount gpus) { return {gpus, gpu.node_gpus}; }

// Powers of two and three times them: other numbers mostly have no plan, or a slower one than a
// smaller number has (docs/plans.md).
bool IsPlanCount(GpuCount gpus);

}  // namespace allot
