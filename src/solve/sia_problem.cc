#include "solve/sia_problem.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/index.h"
#include "solve/multiple_choice.h"

namespace allot {

double SiaCost(const SiaProblem& problem, const SiaProblem::Job& job, std::int32_t option) {
  const double factor = job.current < 0 || option == job.current ? 1 : job.factor;
  double power = std::pow(job.options[At(option)].value * factor, problem.power);
  if (problem.decimals >= 0) {
    const double unit = std::pow(10, problem.decimals);
    power = std::nearbyint(power * unit) / unit;
  }
  power = std::min(power, problem.most);
  return problem.power > 0 ? -power : power;
}

double SiaObjective(const SiaProblem& problem, const std::vector<std::int32_t>& chosen) {
  double sum = 0;
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    sum += chosen[job] < 0 ? problem.unserved : SiaCost(problem, problem.jobs[job], chosen[job]);
  }
  return sum;
}

SiaAnswer SolveSia(const SiaProblem& problem, double tolerance) {
  MultipleChoiceProblem choice;
  choice.capacity = problem.capacity;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const SiaProblem::Job& job = problem.jobs[j];
    if (!job.pinned) continue;
    if (job.current < 0) {
      throw DataError("a pinned job runs: job {} has no current option", j);
    }
    const SiaProblem::Option& held = job.options[At(job.current)];
    std::int32_t& left = choice.capacity[At(held.type)];
    left -= held.gpus;
    if (left < 0) {
      throw DataError("pinned jobs hold at most the {} GPUs of type {}, got {} (up to job {})",
                      problem.capacity[At(held.type)], held.type,
                      problem.capacity[At(held.type)] - left, j);
    }
  }
  std::vector<ChoiceOption> options;
  std::vector<std::vector<std::int32_t>> meaning(problem.jobs.size());
  double scale = 0;  // of the objective: what waiting costs all
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const SiaProblem::Job& job = problem.jobs[j];
    options.clear();
    scale += std::abs(problem.unserved);
    for (std::int32_t o = 0; !job.pinned && At(o) < job.options.size(); ++o) {
      const SiaProblem::Option& option = job.options[At(o)];
      if (!(option.value > 0)) continue;
      const double gain = problem.unserved - SiaCost(problem, job, o);
      if (!(gain > 0)) continue;
      options.push_back({option.type, option.gpus, gain});
      meaning[j].push_back(o);
    }
    choice.Add(options);
  }
  // The tolerance is of the objective, which is what is left of waiting.
  double gains = 0;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    double best = 0;
    for (const ChoiceOption& option : choice.of(j)) best = std::max(best, option.gain);
    gains += best;
  }
  const double objective = std::max(std::abs(scale - gains), 1e-9 * scale);
  const double relative = gains > 0 ? tolerance * std::min(1.0, objective / gains) : tolerance;
  const MultipleChoiceAnswer answer = SolveMultipleChoice(choice, relative);
  SiaAnswer sia;
  sia.chosen.assign(problem.jobs.size(), -1);
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    if (problem.jobs[j].pinned) {
      sia.chosen[j] = problem.jobs[j].current;
    } else if (answer.chosen[j] >= 0) {
      sia.chosen[j] = meaning[j][At(answer.chosen[j])];
    }
  }
  sia.objective = SiaObjective(problem, sia.chosen);
  sia.bound = sia.objective - (answer.bound - answer.gain);
  sia.proved = answer.proved;
  return sia;
}

}  // namespace allot
