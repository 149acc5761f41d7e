#include "plans/plan_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <limits>
#include <map>

namespace allot {
namespace {

constexpr int kMostTensor = 8;
constexpr int kMostContext = 16;
constexpr int kLeastContextTokens = 4096;
constexpr int kMostMicroBatch = 32;
constexpr int kMostInterleave = 8;
constexpr double kMostUneven = 1.15;  // layers of the fullest stage over the mean
constexpr GpuCount kEveryCountUpTo = 64;

using Values = std::vector<int>;

Values PowersOfTwo(int most) {
  Values values;
  for (int value = 1; value <= most; value *= 2) values.push_back(value);
  return values;
}

template <typename T>
std::vector<T> OneOr(const std::optional<T>& fixed, std::vector<T> all) {
  return fixed ? std::vector<T>{*fixed} : std::move(all);
}

bool Even(int layers, int pieces) {
  const int longest = (layers + pieces - 1) / pieces;
  return layers % pieces == 0 || 1.0 * longest * pieces / layers <= kMostUneven;
}

// What each part of a plan may be, whatever the number of GPUs.
struct Choices {
  explicit Choices(const PlanProblem& problem)
      : tensor(OneOr(problem.split.tensor, PowersOfTwo(kMostTensor))),
        context(OneOr(problem.split.context,
                      PowersOfTwo(std::clamp(problem.training.sequence / kLeastContextTokens, 1,
                                             kMostContext)))),
        expert(OneOr(problem.split.expert,
                     PowersOfTwo(std::max(1, problem.training.decoder.experts)))),
        micro_batch(OneOr(problem.split.micro_batch, PowersOfTwo(kMostMicroBatch))),
        interleave(OneOr(problem.split.interleave, PowersOfTwo(kMostInterleave))),
        zero(OneOr(problem.split.zero, {1, 3})),
        recompute(OneOr(problem.split.recompute,
                        {Recompute::kNone, Recompute::kHalf, Recompute::kFull})) {}

  Values tensor;
  Values context;
  Values expert;
  Values micro_batch;
  Values interleave;
  Values zero;
  std::vector<Recompute> recompute;
};

// Calls visit(plan) for each plan whose split over GPUs is `split`.
template <typename Visit>
void EachSchedule(const PlanProblem& problem, const Choices& choices, Plan plan, Visit& visit) {
  const int batch = problem.training.batch;
  const int layers = problem.training.decoder.layers;
  for (const int micro_batch : choices.micro_batch) {
    if (batch % (plan.data * micro_batch) != 0) continue;
    const int micro_batches = batch / (plan.data * micro_batch);
    if (plan.pipeline > 1 && micro_batches < plan.pipeline) continue;
    plan.micro_batch = micro_batch;
    for (const int interleave : choices.interleave) {
      if (interleave > 1 && (plan.pipeline == 1 || micro_batches % plan.pipeline != 0 ||
                             !Even(layers, plan.pipeline * interleave))) {
        continue;
      }
      plan.interleave = interleave;
      for (const int zero : choices.zero) {
        // Sharded weights would be gathered for each micro-batch of a pipeline.
        if (zero == 3 && plan.pipeline > 1) continue;
        if (zero == 3 && plan.data * plan.context == 1 && choices.zero.size() > 1) continue;
        plan.zero = zero;
        for (const Recompute recompute : choices.recompute) {
          plan.recompute = recompute;
          visit(plan);
        }
      }
    }
  }
}

// Calls visit(plan) for each plan of the room. The cheap rules come first.
template <typename Visit>
void EachPlan(const PlanProblem& problem, const Choices& choices, const PlanRoom& room,
              Visit visit) {
  const Decoder& d = problem.training.decoder;
  const int batch = problem.training.batch;
  const GpuCount gpus = room.gpus;
  Plan plan;
  for (const int tensor : choices.tensor) {
    if (gpus % tensor != 0 || d.heads % tensor != 0) continue;
    if (tensor > 1 && gpus > room.node_gpus && room.node_gpus % tensor != 0) continue;
    plan.tensor = tensor;
    const int stages_and_replicas = gpus / tensor;
    const int first = problem.split.pipeline.value_or(1);
    const int last = problem.split.pipeline.value_or(std::min(stages_and_replicas, d.layers));
    for (int pipeline = first; pipeline <= last; ++pipeline) {
      if (stages_and_replicas % pipeline != 0 || !Even(d.layers, pipeline)) continue;
      plan.pipeline = pipeline;
      const int replicas = stages_and_replicas / pipeline;
      for (const int context : choices.context) {
        if (replicas % context != 0 || batch % (replicas / context) != 0) continue;
        plan.context = context;
        plan.data = replicas / context;
        for (const int expert : choices.expert) {
          if (expert > 1 && (d.experts % expert != 0 || replicas * tensor % expert != 0)) continue;
          plan.expert = expert;
          EachSchedule(problem, choices, plan, visit);
        }
      }
    }
  }
}

PlanCost CostOf(const PlanProblem& problem, const PlanRoom& room) {
  return {problem.training, problem.gpu, std::min(room.gpus, room.node_gpus)};
}

}  // namespace

std::optional<RatedPlan> BestPlan(const PlanProblem& problem, const PlanRoom& room) {
  const PlanCost cost = CostOf(problem, room);
  std::optional<RatedPlan> best;
  EachPlan(problem, Choices(problem), room, [&](const Plan& plan) {
    const double memory = cost.MemoryOf(plan);
    if (memory > cost.usable_memory()) return;
    const Seconds step = cost.StepOf(plan);
    if (!best || step < best->step) best = RatedPlan{plan, step, memory};
  });
  return best;
}

PlanSurvey SurveyPlans(const PlanProblem& problem, const PlanRoom& room) {
  const PlanCost cost = CostOf(problem, room);
  PlanSurvey survey;
  survey.usable_memory = cost.usable_memory();
  using Split = std::array<int, 5>;
  std::map<Split, RatedPlan> best, smallest;
  EachPlan(problem, Choices(problem), room, [&](const Plan& plan) {
    ++survey.tried;
    const RatedPlan rated{plan, cost.StepOf(plan), cost.MemoryOf(plan)};
    const Split split{plan.tensor, plan.pipeline, plan.context, plan.expert, plan.zero};
    const bool fits = rated.memory <= cost.usable_memory();
    survey.fit += fits ? 1 : 0;
    const auto [known, added] = (fits ? best : smallest).try_emplace(split, rated);
    if (!added && (fits ? rated.step < known->second.step : rated.memory < known->second.memory)) {
      known->second = rated;
    }
  });
  for (const auto& [split, rated] : best) survey.best.push_back(rated);
  for (const auto& [split, rated] : smallest) {
    if (!best.contains(split)) survey.too_large.push_back(rated);
  }
  std::stable_sort(survey.best.begin(), survey.best.end(),
                   [](const RatedPlan& a, const RatedPlan& b) { return a.step < b.step; });
  std::stable_sort(survey.too_large.begin(), survey.too_large.end(),
                   [](const RatedPlan& a, const RatedPlan& b) { return a.memory < b.memory; });
  return survey;
}

std::optional<GpuCount> LeastGpus(const PlanProblem& problem, GpuCount most) {
  for (GpuCount gpus = 1; gpus <= most;) {
    if (BestPlan(problem, FullNodes(problem.gpu, gpus))) return gpus;
    const GpuCount node = std::max(1, problem.gpu.node_gpus);
    gpus = gpus < kEveryCountUpTo ? gpus + 1 : (gpus / node + 1) * node;
  }
  return std::nullopt;
}

bool IsPlanCount(GpuCount gpus) {
  const auto third = gpus % 3 == 0 ? gpus / 3 : gpus;
  return gpus > 0 && std::has_single_bit(static_cast<unsigned>(third));
}

}  // namespace allot
