#include "agents/training/unfinished.h"

#include <algorithm>

#include "core/index.h"

namespace allot {

std::vector<Seconds> TimeLeftAlone(const Scenario& scenario, const Observation& last) {
  std::vector<Seconds> left;
  for (std::int32_t row = 0; row < last.rows(); ++row) {
    const double work = scenario.facts(last.job[At(row)]).work - last.done_work[At(row)];
    left.push_back(std::max(0.0, work) / last.table[At(row)]->best_rate());
  }
  return left;
}

StepFacts StepAlone(const Scenario& scenario, const Observation& last) {
  StepFacts step;
  const std::vector<Seconds> left = TimeLeftAlone(scenario, last);
  for (std::int32_t row = 0; row < last.rows(); ++row) {
    const JobIndex job = last.job[At(row)];
    step.job_seconds += left[At(row)];
    step.slowdown_seconds += left[At(row)] / scenario.workload().jobs[At(job)].duration;
    step.progress += 1 - std::min(1.0, last.done_work[At(row)] / scenario.facts(job).work);
  }
  return step;
}

}  // namespace allot
