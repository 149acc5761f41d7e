#include "sim/objectives.h"

#include "core/error.h"

namespace allot {

void RequireMeetableDeadlines(const Scenario& scenario) {
  constexpr double kRounding = 1e-9;  // of traces in which the deadline is the run time itself
  const Workload& workload = scenario.workload();
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const Job& job = workload.jobs[i];
    if (job.deadline == kNever) continue;
    const Scenario::JobFacts& facts = scenario.facts(static_cast<JobIndex>(i));
    const Seconds shortest = facts.work / facts.table->best_rate();
    const Seconds given = job.deadline - job.submit;
    if (given >= shortest * (1 - kRounding)) continue;
    const Configuration& fastest = (*facts.table)[facts.table->fastest().front()];
    throw DataError(
        "a deadline must leave a job its shortest run time: job '{}' has {} s, and takes {} s on "
        "its fastest GPUs ({}){}; --late-deadlines keeps such jobs",
        job.id, given, shortest,
        scenario.cluster().types()[static_cast<std::size_t>(fastest.gpu_type)],
        workload.PlaceOf(job));
  }
}

}  // namespace allot
