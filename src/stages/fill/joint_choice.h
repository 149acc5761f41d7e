#pragma once
// GPU types and sizes of all jobs together, where the hull fill (stages/fill/hull_fill.h) takes one
// step after the other: each job has one configuration or none, such that
//
//   sum exp(u) (s^(1-beta) - w^(1-beta)) / (1-beta),   ln s - ln w for beta 1,
//
// is largest, s = rate / reference rate, w the speed that waiting counts as. A change costs: of
// who runs, s of any other configuration is less by exp(-kappa) and by what the restart takes of
// the time that the job has left. Configurations: stages/fill/node_sizes.h. Solved as a
// multiple-choice knapsack with a capacity a type (solve/multiple_choice.h).
//
// Which type suits a job depends on how many GPUs of it the job would get, and on who else wants
// them: on the three types of Sia's cluster the fill was 20 % behind (ADR 42).

#include <span>
#include <vector>

#include "sched/stages.h"
#include "solve/multiple_choice.h"
#include "stages/fill/hull_fill.h"
#include "stages/fill/node_sizes.h"

namespace allot {

class JointChoice {
 public:
  // `waiting`: w, in 0..1. `tolerance`: relative to the sum, within which the answer is the best.
  JointChoice(double waiting, double tolerance) : waiting_(waiting), tolerance_(tolerance) {}

  // `remaining`: seconds that each of `rows` still takes as it runs now, or in its smallest
  // configuration. Grants come largest first. UsageError where waiting is worth -infinity: w 0 and
  // a beta of 1 or more.
  void Choose(const Observation& observation, std::span<const std::int32_t> rows,
              std::span<const Score> scores, std::span<const Seconds> remaining,
              std::vector<Grant>* grants);

 private:
  void Pose(const Observation& observation, std::int32_t row, const Score& score,
            Seconds remaining);

  double waiting_;
  double tolerance_;
  NodeSizes sizes_;
  MultipleChoiceProblem problem_;
  std::vector<std::int32_t> configurations_;  // by option of the problem
  std::vector<std::size_t> order_;            // indices into rows, by submission
  std::vector<ChoiceOption> options_;
};

}  // namespace allot
